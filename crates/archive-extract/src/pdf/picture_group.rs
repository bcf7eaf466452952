//! Pictures of a page that lie side by side, joined by their placement: a scan may be cut into
//! strips or tiles. Chooses the groups that may show text.

use super::area::Area;
use super::drawn_items::{DrawnItems, Picture};

/// Pictures with at most this gap belong together: strips of a scan touch but for rounding.
const GAP_MAX: f64 = 1.5;
/// The smallest picture with a line of text: 8 points high.
const WIDTH_MIN: f64 = 30.0;
const HEIGHT_MIN: f64 = 7.0;
/// A page of prose has 2,000 to 4,000 letters. The text of a picture is in the text layer if this
/// many letters for a whole page are over it, or are invisible or under it, as a scanner writes
/// them.
const VISIBLE_PER_PAGE: f64 = 1_500.0;
const HIDDEN_PER_PAGE: f64 = 100.0;
/// A picture under this share of the page is small: it may be a logo, a seal or a signature.
const SMALL_SHARE: f64 = 0.05;

pub(super) struct PictureGroup<'a> {
    pub(super) area: Area,
    pub(super) pictures: Vec<&'a Picture>,
    /// Its share of the page.
    pub(super) share: f64,
}

impl PictureGroup<'_> {
    pub(super) fn is_small(&self) -> bool {
        self.share < SMALL_SHARE
    }
}

/// The groups on a page whose text is not in the text layer, from the top of the page.
pub(super) fn groups_for_ocr<'a>(drawn: &'a DrawnItems, page: &Area) -> Vec<PictureGroup<'a>> {
    let mut groups: Vec<PictureGroup<'a>> =
        joined(&drawn.pictures).into_iter().filter_map(|it| group(it, page)).collect();
    groups.retain(|it| {
        let Some(first) = it.pictures.first() else { return false };
        let letters = drawn.letters_in(&it.area, first);
        // Page counts are far below 2^53.
        let reaches = |count: usize, per_page: f64| {
            count >= 10 && count as f64 >= per_page * it.share.min(1.0)
        };
        !reaches(letters.visible, VISIBLE_PER_PAGE) && !reaches(letters.hidden, HIDDEN_PER_PAGE)
    });
    groups.sort_by(|a, b| {
        b.area.top.total_cmp(&a.area.top).then(a.area.left.total_cmp(&b.area.left))
    });
    groups
}

fn group<'a>(pictures: Vec<&'a Picture>, page: &Area) -> Option<PictureGroup<'a>> {
    let area = pictures.iter().map(|it| it.area).reduce(|all, it| all.union(&it))?;
    let area = area.intersection(page)?;
    let is_line = area.width() >= WIDTH_MIN && area.height() >= HEIGHT_MIN;
    is_line.then(|| PictureGroup { area, pictures, share: area.size() / page.size().max(1.0) })
}

/// Pictures that touch or overlap, directly or through others.
fn joined(pictures: &[Picture]) -> Vec<Vec<&Picture>> {
    let mut order: Vec<usize> = (0..pictures.len()).collect();
    order.sort_by(|a, b| pictures[*a].area.bottom.total_cmp(&pictures[*b].area.bottom));
    let mut leader: Vec<usize> = (0..pictures.len()).collect();
    for (at, &low) in order.iter().enumerate() {
        let reach = pictures[low].area.grown(GAP_MAX);
        let above = order[at + 1..].iter();
        for &high in above.take_while(|it| pictures[**it].area.bottom <= reach.top) {
            if reach.intersection(&pictures[high].area).is_some() {
                let (a, b) = (leader_of(&mut leader, low), leader_of(&mut leader, high));
                leader[a.max(b)] = a.min(b);
            }
        }
    }
    let mut groups: Vec<Vec<&Picture>> = vec![Vec::new(); pictures.len()];
    for (at, picture) in pictures.iter().enumerate() {
        groups[leader_of(&mut leader, at)].push(picture);
    }
    groups.retain(|it| !it.is_empty());
    groups
}

fn leader_of(leader: &mut [usize], mut at: usize) -> usize {
    while leader[at] != at {
        leader[at] = leader[leader[at]];
        at = leader[at];
    }
    at
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::pdf::object::Object;
    use crate::pdf::paint::Paint;

    const PAGE: Area = Area { left: 0.0, bottom: 0.0, right: 600.0, top: 800.0 };

    /// Pictures, each as left, bottom, width and height, make groups, each with a number of
    /// pictures and a height.
    #[track_caller]
    fn check(pictures: &[[f64; 4]], groups: &[(usize, f64)]) {
        let mut drawn = DrawnItems::default();
        for [left, bottom, width, height] in pictures {
            drawn.add_picture(Rc::new(Object::Null), &[*width, 0.0, 0.0, *height, *left, *bottom]);
        }
        let found: Vec<(usize, f64)> = groups_for_ocr(&drawn, &PAGE)
            .iter()
            .map(|it| (it.pictures.len(), it.area.height()))
            .collect();
        assert_eq!(found, groups);
    }

    #[test]
    fn strips_and_tiles_are_one_picture() {
        let strips: Vec<[f64; 4]> =
            (0..30).map(|it| [50.0, 10.0 + f64::from(it) * 26.0, 500.0, 26.0]).collect();
        check(&strips, &[(30, 780.0)]);
        let lines: Vec<[f64; 4]> =
            (0..600).map(|it| [50.0, 10.0 + f64::from(it), 500.0, 1.0]).collect();
        check(&lines, &[(600, 600.0)]);
        let tiles =
            [[0.0, 0.0, 300.0, 400.0], [300.0, 0.0, 300.0, 400.0], [0.0, 400.5, 300.0, 399.0]];
        check(&tiles, &[(3, 799.5)]);
    }

    #[test]
    fn pictures_apart_stay_apart_and_lines_are_left_out() {
        check(
            &[[50.0, 100.0, 200.0, 100.0], [50.0, 500.0, 200.0, 20.0], [50.0, 300.0, 500.0, 2.0]],
            &[(1, 20.0), (1, 100.0)],
        );
        check(&[[-900.0, 0.0, 500.0, 500.0]], &[]);
    }

    /// Whether OCR reads a full-page picture that has `count` letters over or under it.
    fn is_read(count: usize, invisible: bool, under: bool) -> bool {
        let mut drawn = DrawnItems::default();
        let picture = |drawn: &mut DrawnItems| {
            drawn.add_picture(Rc::new(Object::Null), &[600.0, 0.0, 0.0, 800.0, 0.0, 0.0]);
        };
        let mut paint = Paint::default();
        paint.operate("Tr", &[Object::Number(if invisible { 3.0 } else { 0.0 })]);
        if !under {
            picture(&mut drawn);
        }
        for _ in 0..count {
            drawn.add_letter("a", &[1.0, 0.0, 0.0, 1.0, 99.0, 99.0], 5.0, 9.0, &paint);
        }
        if under {
            picture(&mut drawn);
        }
        !groups_for_ocr(&drawn, &PAGE).is_empty()
    }

    #[test]
    fn a_scan_with_its_text_is_not_read_again() {
        assert!(is_read(0, false, false));
        assert!(is_read(340, false, false), "a long stamp");
        assert!(!is_read(2_000, false, false), "a background");
        assert!(!is_read(300, true, false), "a scanner's text");
        assert!(!is_read(300, false, true), "text under the picture");
        assert!(is_read(20, true, false), "a scanner that found a stamp only");
    }
}
