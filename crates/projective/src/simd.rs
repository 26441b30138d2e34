//! SIMD: the inner loops compiled for several vector widths.
//!
//! They are plain loops over slices. On x86-64 each is compiled three times, and the processor is asked which copy it can run.
//! No copy may fuse a product with a sum, so all give the same bits. Calling a function that was compiled for more than the
//! target promises is what needs `unsafe`, and it is needed nowhere else.
#![allow(unsafe_code)]

/// How wide vectors may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
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

/// Compiles a function over a precision, and perhaps with a switch, for every width, and makes one of its name that takes the
/// width first.
macro_rules! for_every_width {
    ($(#[$doc:meta])* fn $name:ident<$real:ident $(, const $flag:ident)?>($($argument:ident: $type:ty),* $(,)?) $body:block) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments, unsafe_code)]
        fn $name<$real: Real $(, const $flag: bool)?>(width: Width, $($argument: $type),*) {
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn body<$real: Real $(, const $flag: bool)?>($($argument: $type),*) $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            #[allow(clippy::too_many_arguments)]
            fn avx2<$real: Real $(, const $flag: bool)?>($($argument: $type),*) {
                body::<$real $(, $flag)?>($($argument),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,avx512f,avx512vl")]
            #[allow(clippy::too_many_arguments)]
            fn avx512<$real: Real $(, const $flag: bool)?>($($argument: $type),*) {
                body::<$real $(, $flag)?>($($argument),*)
            }

            match width {
                Width::Plain => body::<$real $(, $flag)?>($($argument),*),
                // SAFETY: `Width::widest` found the feature on this processor.
                #[cfg(target_arch = "x86_64")]
                Width::Avx2 => unsafe { avx2::<$real $(, $flag)?>($($argument),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                Width::Avx512 => unsafe { avx512::<$real $(, $flag)?>($($argument),*) },
            }
        }
    };
}

pub(crate) use for_every_width;
