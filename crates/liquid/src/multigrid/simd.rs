//! SIMD: the inner loops compiled for several vector widths.
//!
//! They are plain loops over slices. On x86-64 each is compiled three times, and the processor is asked once which copy
//! it can run. No copy may fuse a product with a sum, so all give the same bits. Calling a function that was compiled for
//! more than the target promises is what needs `unsafe`, and it is needed nowhere else.

/// How wide vectors may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// What every processor of the target has.
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Width {
    /// The widest that this processor has.
    pub fn widest() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2");
            if avx2 && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
                return Self::Avx512;
            }
            if avx2 {
                return Self::Avx2;
            }
        }
        Self::Plain
    }

    /// The widest, and those below it.
    #[cfg(test)]
    pub fn available() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        return match Self::widest() {
            Self::Avx512 => vec![Self::Plain, Self::Avx2, Self::Avx512],
            Self::Avx2 => vec![Self::Plain, Self::Avx2],
            Self::Plain => vec![Self::Plain],
        };
        #[cfg(not(target_arch = "x86_64"))]
        vec![Self::Plain]
    }
}

/// Compiles a function for every width, and makes one of its name that takes the width first.
macro_rules! for_every_width {
    ($(#[$doc:meta])* pub fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $answer:ty)? $body:block) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        pub(super) fn $name<const D: usize>(width: Width, $($argument: $type),*) $(-> $answer)? {
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn body<const D: usize>($($argument: $type),*) $(-> $answer)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            #[allow(clippy::too_many_arguments)]
            fn avx2<const D: usize>($($argument: $type),*) $(-> $answer)? {
                body::<D>($($argument),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,avx512f,avx512vl")]
            #[allow(clippy::too_many_arguments)]
            fn avx512<const D: usize>($($argument: $type),*) $(-> $answer)? {
                body::<D>($($argument),*)
            }

            match width {
                Width::Plain => body::<D>($($argument),*),
                // SAFETY: `Width::widest` found the feature on this processor.
                #[cfg(target_arch = "x86_64")]
                Width::Avx2 => unsafe { avx2::<D>($($argument),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                Width::Avx512 => unsafe { avx512::<D>($($argument),*) },
            }
        }
    };
}

pub(super) use for_every_width;
