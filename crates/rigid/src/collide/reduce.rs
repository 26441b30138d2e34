//! Reduction of many contact points to few that carry the same loads.

use crate::contact::Touch;
use crate::linear::{dot, norm, sub, tangents};

/// Cosine of the angle within which normals are the same: 30 degrees.
const SAME_NORMAL: f64 = 0.866;
/// Contacts of one pair of bodies at most.
pub(super) const MOST_OF_A_PAIR: usize = 16;

/// Keeps the deepest of the contacts from `start` on, and those that span the largest area, `most` in all.
pub(super) fn spread<const D: usize>(touches: &mut Vec<Touch<D>>, start: usize, most: usize) {
    // A segment in two dimensions is spanned by its ends.
    let most = if D == 2 { most.min(2) } else { most };
    let count = touches.len() - start;
    if count <= most {
        return;
    }
    let all = &mut touches[start..];
    let deepest = (0..count).min_by(|&i, &j| {
        let order = all[i].gap.total_cmp(&all[j].gap);
        order.then(all[i].id.cmp(&all[j].id))
    });
    all.swap(0, deepest.unwrap_or(0));
    if D == 2 {
        // The deepest may lie between the ends: keep the two that are farthest from each other.
        let across = tangents(all[0].normal)[0];
        let along = |k: usize| dot(all[k].point, across);
        let low = (0..count)
            .min_by(|&i, &j| along(i).total_cmp(&along(j)))
            .unwrap_or(0);
        let high = (0..count)
            .max_by(|&i, &j| along(i).total_cmp(&along(j)))
            .unwrap_or(0);
        let (first, last) = (all[low], all[high]);
        all[0] = first;
        all[1] = last;
    } else {
        for kept in 1..most {
            let far = |k: usize| {
                (0..kept)
                    .map(|i| norm(sub(all[k].point, all[i].point)))
                    .fold(f64::INFINITY, f64::min)
            };
            let next = (kept..count)
                .max_by(|&i, &j| far(i).total_cmp(&far(j)).then(all[j].id.cmp(&all[i].id)));
            all.swap(kept, next.unwrap_or(kept));
        }
    }
    touches.truncate(start + most);
    touches[start..].sort_by_key(|touch| touch.id);
}

/// Reduces the contacts of curved surfaces: those with about the same normal together.
pub(super) fn by_normal<const D: usize>(touches: Vec<Touch<D>>) -> Vec<Touch<D>> {
    let mut sorted = touches;
    sorted.sort_by(|x, y| x.gap.total_cmp(&y.gap).then(x.id.cmp(&y.id)));
    let mut clusters: Vec<Vec<Touch<D>>> = Vec::new();
    for touch in sorted {
        let same = clusters
            .iter_mut()
            .find(|cluster| dot(cluster[0].normal, touch.normal) > SAME_NORMAL);
        match same {
            Some(cluster) => cluster.push(touch),
            None => clusters.push(vec![touch]),
        }
    }
    let mut kept = Vec::new();
    for mut cluster in clusters {
        spread(&mut cluster, 0, 4);
        kept.extend(cluster);
        if kept.len() >= MOST_OF_A_PAIR {
            break;
        }
    }
    kept.truncate(MOST_OF_A_PAIR);
    kept
}
