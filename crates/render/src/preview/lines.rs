//! Antialiased lines.

use super::blur::Field;

/// Draws the line from `a` to `b` into a coverage image.
pub(super) fn stroke(cover: &mut Field, a: [f32; 2], b: [f32; 2], half_width: f32) {
    let length = (b[0] - a[0]).hypot(b[1] - a[1]);
    if !length.is_finite() || length > 1e5 {
        return;
    }
    // In pieces, so that a slanted line doesn't visit its whole bounding box.
    let pieces = (length / 12.0).ceil().max(1.0);
    for k in 0..pieces as usize {
        let at = |s: f32| [a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])];
        piece(
            cover,
            at(k as f32 / pieces),
            at((k + 1) as f32 / pieces),
            half_width,
        );
    }
}

fn piece(cover: &mut Field, a: [f32; 2], b: [f32; 2], half_width: f32) {
    let reach = half_width + 0.5;
    let range = |i: usize, count: usize| {
        let first = (a[i].min(b[i]) - reach - 0.5).ceil().max(0.0) as usize;
        let end = (a[i].max(b[i]) + reach + 0.5).floor().max(0.0) as usize;
        first..end.min(count)
    };
    let along = [b[0] - a[0], b[1] - a[1]];
    let square = along[0] * along[0] + along[1] * along[1];
    for y in range(1, cover.height) {
        for x in range(0, cover.width) {
            let offset = [x as f32 + 0.5 - a[0], y as f32 + 0.5 - a[1]];
            let s = if square > 0.0 {
                ((offset[0] * along[0] + offset[1] * along[1]) / square).clamp(0.0, 1.0)
            } else {
                0.0
            };
            let away = (offset[0] - s * along[0]).hypot(offset[1] - s * along[1]);
            let value = &mut cover.values[y * cover.width + x];
            *value = value.max((reach - away).clamp(0.0, 1.0));
        }
    }
}
