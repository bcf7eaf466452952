//! Reads the value of one setting from text (environment) or from TOML, by the setting's type.

use std::path::PathBuf;

use auth::Secret;

/// A value as one source holds it.
pub(crate) enum RawValue<'a> {
    Text(&'a str),
    Toml(&'a toml::Value),
}

pub(crate) trait SettingValue: Sized {
    /// Whether error messages must not show the value.
    const SECRET: bool = false;

    /// `None` if the value is not of this type.
    fn read(raw: &RawValue<'_>) -> Option<Self>;

    /// The value as the documentation writes it; `None` for an absent or secret one.
    fn shown(&self) -> Option<String>;
}

impl<T: SettingValue> SettingValue for Option<T> {
    const SECRET: bool = T::SECRET;

    fn read(raw: &RawValue<'_>) -> Option<Self> {
        T::read(raw).map(Some)
    }

    fn shown(&self) -> Option<String> {
        self.as_ref().and_then(T::shown)
    }
}

impl SettingValue for String {
    fn read(raw: &RawValue<'_>) -> Option<Self> {
        match raw {
            RawValue::Text(text) => Some((*text).to_owned()),
            RawValue::Toml(value) => value.as_str().map(str::to_owned),
        }
    }

    fn shown(&self) -> Option<String> {
        Some(format!("`{self}`"))
    }
}

impl SettingValue for PathBuf {
    fn read(raw: &RawValue<'_>) -> Option<Self> {
        String::read(raw).map(Self::from)
    }

    fn shown(&self) -> Option<String> {
        Some(format!("`{}`", self.display()))
    }
}

impl SettingValue for Secret {
    const SECRET: bool = true;

    fn read(raw: &RawValue<'_>) -> Option<Self> {
        String::read(raw).map(Self::new)
    }

    fn shown(&self) -> Option<String> {
        None
    }
}

impl SettingValue for bool {
    fn read(raw: &RawValue<'_>) -> Option<Self> {
        match raw {
            RawValue::Text(text) => text.parse().ok(),
            RawValue::Toml(value) => value.as_bool(),
        }
    }

    fn shown(&self) -> Option<String> {
        Some(self.to_string())
    }
}

/// A list in the environment is separated by commas.
impl SettingValue for Vec<String> {
    fn read(raw: &RawValue<'_>) -> Option<Self> {
        match raw {
            RawValue::Text(text) => {
                let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
                Some(words.map(str::to_owned).collect())
            }
            RawValue::Toml(value) => {
                value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
            }
        }
    }

    fn shown(&self) -> Option<String> {
        (!self.is_empty()).then(|| format!("`{}`", self.join(",")))
    }
}

impl SettingValue for f64 {
    fn read(raw: &RawValue<'_>) -> Option<Self> {
        match raw {
            RawValue::Text(text) => text.parse().ok(),
            RawValue::Toml(toml::Value::Integer(number)) => number.to_string().parse().ok(),
            RawValue::Toml(value) => value.as_float(),
        }
    }

    fn shown(&self) -> Option<String> {
        Some(self.to_string())
    }
}

macro_rules! whole_numbers {
    ($($type:ty),*) => {$(
        impl SettingValue for $type {
            fn read(raw: &RawValue<'_>) -> Option<Self> {
                match raw {
                    RawValue::Text(text) => text.parse().ok(),
                    RawValue::Toml(value) => value.as_integer()?.try_into().ok(),
                }
            }

            fn shown(&self) -> Option<String> {
                Some(self.to_string())
            }
        }
    )*};
}

whole_numbers!(u16, u32, u64, usize);
