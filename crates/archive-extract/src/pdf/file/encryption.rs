//! Opens encrypted files, with the empty password or with a given one.

use super::PdfFile;
use crate::Password;
use crate::pdf::crypt::Decryptor;

impl PdfFile<'_> {
    /// Sets up decryption with the empty password, or else with the given one; false if neither
    /// opens the file.
    pub(in crate::pdf) fn unlock(&mut self, password: Option<&Password>) -> bool {
        let Some(encrypt) = self.get(&self.trailer, "Encrypt") else { return true };
        let open =
            |password: &str| encrypt.dict().and_then(|it| Decryptor::open(self, it, password));
        let mut crypt = open("");
        let is_locked = crypt.is_none();
        if let Some(password) = password.filter(|_| is_locked) {
            crypt = open(password.reveal());
        }
        (self.is_locked, self.crypt) = (is_locked, crypt);
        self.cache.borrow_mut().clear();
        self.packed.borrow_mut().clear();
        self.crypt.is_some()
    }

    pub(in crate::pdf) fn has_supported_encryption(&self) -> bool {
        let encrypt = self.get(&self.trailer, "Encrypt");
        encrypt.is_some_and(|it| it.dict().is_some_and(|it| Decryptor::is_supported(self, it)))
    }
}
