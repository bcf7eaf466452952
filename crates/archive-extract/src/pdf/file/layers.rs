//! Layers (optional content groups) that the file switches off; what is on them is not visible.

use std::collections::BTreeSet;

use super::PdfFile;
use crate::pdf::object::{Dict, Object};

/// The most layers that are looked at.
const LAYERS_MAX: usize = 100_000;
/// The most layers of one list that are looked at; each span of a page may name a list.
const MEMBERS_MAX: usize = 64;

#[derive(Default)]
pub(super) struct Layers {
    /// Whether layers that are not listed are off.
    others_off: bool,
    listed: BTreeSet<u32>,
}

impl Layers {
    fn load(file: &PdfFile<'_>) -> Option<Self> {
        let root = file.get(&file.trailer, "Root")?;
        let properties = file.get(root.dict()?, "OCProperties")?;
        let settings = file.get(properties.dict()?, "D")?;
        let settings = settings.dict()?;
        let base = file.get(settings, "BaseState");
        let others_off = base.as_deref().and_then(Object::name) == Some("OFF");
        let list = file.get(settings, if others_off { "ON" } else { "OFF" })?;
        let numbers = list.array()?.iter().take(LAYERS_MAX).filter_map(reference);
        Some(Self { others_off, listed: numbers.collect() })
    }

    fn is_off(&self, number: u32) -> bool {
        self.listed.contains(&number) != self.others_off
    }
}

fn reference(object: &Object) -> Option<u32> {
    if let Object::Reference(number) = object { Some(*number) } else { None }
}

impl PdfFile<'_> {
    /// Whether `object` is a layer that is off, or a list of layers that are all off.
    pub(in crate::pdf) fn is_layer_off(&self, object: &Object) -> bool {
        let layers = self.layers.get_or_init(|| Layers::load(self).unwrap_or_default());
        if layers.listed.is_empty() && !layers.others_off {
            return false;
        }
        let resolved = self.resolve(object);
        let members = resolved.dict().and_then(|it| it.get("OCGs"));
        match members {
            None => reference(object).is_some_and(|it| layers.is_off(it)),
            Some(one @ Object::Reference(number)) => match self.resolve(one).array() {
                Some(list) => all_off(layers, list),
                None => layers.is_off(*number),
            },
            Some(list) => all_off(layers, list.array().unwrap_or_default()),
        }
    }

    /// Whether an object with an `OC` entry belongs to a layer that is off.
    pub(in crate::pdf) fn is_on_layer_off(&self, dict: &Dict) -> bool {
        dict.get("OC").is_some_and(|it| self.is_layer_off(it))
    }
}

fn all_off(layers: &Layers, list: &[Object]) -> bool {
    let mut numbers = list.iter().take(MEMBERS_MAX).filter_map(reference).peekable();
    numbers.peek().is_some() && numbers.all(|it| layers.is_off(it))
}
