//! Tokens: who has shown a secret that only its owner has.
//!
//! A secret is 256 random bits, so its hash needs no salt and no slow function: nobody can guess it, hashed or not. The file
//! has hashes only, and is as little of a secret as a list of names.

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use super::{Identity, Role, check_name};
use crate::scheduler::hex;

/// What secrets begin with, so that people and scanners of repositories recognise one.
const PREFIX: &str = "nonet_";
const SECRET_BYTES: usize = 32;
/// More is no list of people and machines.
const MAX_TOKENS: usize = 10_000;
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The tokens that a coordinator knows.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    known: Vec<(Identity, blake3::Hash)>,
}

/// The file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    token: Vec<Line>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    name: String,
    role: Role,
    blake3: String,
}

impl Tokens {
    /// Reads a file that `nonet tokens add` has written.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or says something else; with the path.
    pub fn read(path: &Path) -> Result<Self, String> {
        let failed = |why: &dyn std::fmt::Display| format!("token file {}: {why}", path.display());
        let len = fs::metadata(path).map_err(|e| failed(&e))?.len();
        if len > MAX_FILE_BYTES {
            return Err(failed(&format!("{len} bytes: at most {MAX_FILE_BYTES} are read")));
        }
        let text = fs::read_to_string(path).map_err(|e| failed(&e))?;
        let written: Written = toml::from_str(&text).map_err(|e| failed(&e.message().replace('\n', " ")))?;
        let mut tokens = Self::default();
        for line in written.token {
            let hash = blake3::Hash::from_hex(&line.blake3);
            let hash =
                hash.map_err(|_| failed(&format!("{}: its hash is not 64 hexadecimal digits", line.name)))?;
            tokens.insert(Identity { name: line.name, role: line.role }, hash).map_err(|e| failed(&e))?;
        }
        Ok(tokens)
    }

    /// Writes the file whole, then renames it, so that no coordinator ever reads half of it.
    ///
    /// # Errors
    ///
    /// When the system does not let it.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let lines = self.known.iter().map(|(who, hash)| Line {
            name: who.name.clone(),
            role: who.role,
            blake3: hash.to_hex().to_string(),
        });
        let text = toml::to_string(&Written { token: lines.collect() }).map_err(|e| e.to_string())?;
        let mut aside = path.as_os_str().to_owned();
        aside.push(".new");
        let replace = || {
            let mut file = File::create(&aside)?;
            if let Ok(old) = fs::metadata(path) {
                file.set_permissions(old.permissions())?;
            }
            file.write_all(b"# Written by `nonet tokens`. Hashes of secrets that are nowhere else.\n")?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&aside, path)
        };
        replace().map_err(|e| format!("token file {}: {e}", path.display()))
    }

    fn insert(&mut self, who: Identity, hash: blake3::Hash) -> Result<(), String> {
        check_name(&who.name)?;
        if who.role == Role::Coordinator {
            return Err(format!("{}: tokens are for workers, viewers and operators", who.name));
        }
        if self.known.iter().any(|(other, _)| other.name == who.name) {
            return Err(format!("there are two tokens of the name {}", who.name));
        }
        if self.known.len() >= MAX_TOKENS {
            return Err(format!("more than {MAX_TOKENS} tokens"));
        }
        self.known.push((who, hash));
        Ok(())
    }

    /// Makes a token, and returns its secret, which is not kept.
    ///
    /// # Errors
    ///
    /// When there is one of this name, or no randomness.
    pub fn add(&mut self, who: Identity) -> Result<String, String> {
        let mut bytes = [0; SECRET_BYTES];
        let random = rustls::crypto::ring::default_provider().secure_random;
        random.fill(&mut bytes).map_err(|_| "the system gives no random numbers".to_owned())?;
        let secret = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes));
        if self.known.iter().any(|(other, _)| other.name == who.name) {
            return Err(format!("there is a token of the name {} already: remove it first", who.name));
        }
        self.insert(who, blake3::hash(secret.as_bytes()))?;
        Ok(secret)
    }

    /// Forgets a token. False when there was none.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.known.len();
        self.known.retain(|(who, _)| who.name != name);
        self.known.len() < before
    }

    /// All of them, as they were added, each with the start of its hash.
    pub fn list(&self) -> impl Iterator<Item = (&Identity, String)> {
        self.known.iter().map(|(who, hash)| (who, hex(&hash.as_bytes()[..4])))
    }

    /// Whose secret this is.
    pub fn find(&self, secret: &str) -> Option<&Identity> {
        self.find_hash(&Self::hash(secret))
    }

    /// What is kept of a secret.
    pub fn hash(secret: &str) -> blake3::Hash {
        blake3::hash(secret.as_bytes())
    }

    /// Whose secret has this hash. All are compared, each in constant time: how long it takes tells nothing.
    pub fn find_hash(&self, hash: &blake3::Hash) -> Option<&Identity> {
        self.known.iter().fold(None, |found, (who, known)| if known == hash { Some(who) } else { found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alice(role: Role) -> Identity {
        Identity { name: "alice".into(), role }
    }

    #[test]
    fn secrets_are_found_and_are_nowhere_in_the_file() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("tokens.toml");
        let mut tokens = Tokens::default();
        let secret = tokens.add(alice(Role::Operator)).expect("added");
        assert!(secret.starts_with("nonet_") && secret.len() == 49, "{secret}");
        let other = tokens.add(Identity { name: "node-1".into(), role: Role::Worker }).expect("added");
        assert_ne!(secret, other);
        assert!(tokens.add(alice(Role::Viewer)).expect_err("twice").contains("already"));
        tokens.write(&path).expect("written");
        let text = fs::read_to_string(&path).expect("text");
        assert!(!text.contains(&secret) && !text.contains(&secret[6..]), "{text}");
        let mut tokens = Tokens::read(&path).expect("read");
        assert_eq!(tokens.find(&secret), Some(&alice(Role::Operator)));
        assert_eq!(tokens.find(&secret[..48]), None);
        assert_eq!(tokens.find(""), None);
        assert!(tokens.remove("alice") && !tokens.remove("alice"));
        assert_eq!(tokens.find(&secret), None);
    }

    #[test]
    fn files_that_say_something_else_are_refused_with_their_path() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("tokens.toml");
        let line = |name: &str, role: &str, hash: &str| {
            format!("[[token]]\nname = \"{name}\"\nrole = \"{role}\"\nblake3 = \"{hash}\"\n")
        };
        let hash = "0".repeat(64);
        let bad = [
            ("not toml".into(), "token file"),
            ("[[tokens]]\n".into(), "tokens"),
            (line("a", "admin", &hash), "admin"),
            (line("a", "coordinator", &hash), "workers, viewers and operators"),
            (line("a", "worker", "12"), "64 hexadecimal"),
            (line("a b", "worker", &hash), "letters"),
            (line("a", "worker", &hash) + &line("a", "viewer", &hash), "two tokens"),
        ];
        for (text, part) in bad {
            fs::write(&path, &text).expect("written");
            let error = Tokens::read(&path).expect_err(&text);
            assert!(error.contains(part) && error.contains("tokens.toml"), "{error}");
        }
        assert!(Tokens::read(&dir.path().join("absent")).is_err());
        fs::write(&path, "").expect("written");
        assert!(Tokens::read(&path).expect("empty").find("x").is_none());
    }
}
