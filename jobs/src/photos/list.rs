//! The photographs of a job: fixed when it is submitted, and the same on every worker.
//!
//! A few are named in the settings themselves. Many would not fit there, so they are listed in a file: a line for each, in
//! order, with its size and the mark of its version. The settings then have the place of the list, its length and a
//! digest of it, and the file is named by that digest: submitted again, the same photographs are the same job.

use std::{
    collections::HashSet,
    fs,
    io::Write,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};

use crate::{
    input::{File, STANDARD_INPUT, Storage, Surroundings, tree},
    kind::BadSettings,
};

/// Bytes of settings that may be taken by photographs; the rest of them is short.
const MOST_INLINE_BYTES: usize = 32 << 10;

/// Photographs of a job at most.
const MOST_PHOTOS: usize = 200_000;

/// Bytes of a list at most: names are at most 4 KiB, and mostly a hundred bytes.
const MOST_LIST_BYTES: u64 = 128 << 20;

/// Ends of names of pictures. Those that turn out to be unreadable are reported; other files of a folder are none of
/// our business.
const PICTURES: [&str; 19] = [
    "avif", "bmp", "dng", "gif", "heic", "heif", "jfif", "jp2", "jpe", "jpeg", "jpg", "jxl", "pbm", "pgm",
    "png", "pnm", "ppm", "tif", "tiff",
];

/// What a user named, or all that it stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Photos {
    /// As it was typed; it cannot be serialised.
    #[serde(skip)]
    Typed(String),
    /// These files.
    Files(Vec<File>),
    /// Those of a list.
    Listed(Listing),
}

/// A list of photographs in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    /// Its absolute path.
    pub at: String,
    /// How many there are.
    pub photos: u64,
    /// The BLAKE3 hash of the list.
    pub digest: String,
}

impl Photos {
    /// Takes what was typed.
    ///
    /// # Errors
    ///
    /// When it can name nothing.
    pub fn typed(text: &str) -> Result<Self, String> {
        match text {
            "" => Err("a file, a folder or a URL is needed".into()),
            STANDARD_INPUT => {
                Err("photographs cannot be read from standard input: name files or folders".into())
            }
            _ => Ok(Self::Typed(text.to_owned())),
        }
    }

    /// Looks up what was typed, and writes the list if it is long; `listing` is the folder that was asked for.
    ///
    /// # Errors
    ///
    /// When something is not there, there are none or too many, or the list cannot be written.
    pub fn look_up(
        all: Vec<Self>,
        listing: Option<&Path>,
        around: &Surroundings<'_>,
    ) -> Result<Vec<Self>, BadSettings> {
        let (mut files, mut typed) = (Vec::new(), Vec::new());
        for photos in all {
            match photos {
                Self::Typed(text) => {
                    let found = tree(&text, around.storage.as_ref(), &is_picture, around.tell)
                        .map_err(BadSettings)?;
                    if found.is_empty() {
                        (around.tell)(&format!("{text}: there are no pictures below it"));
                    }
                    files.extend(found);
                    typed.push(text);
                }
                Self::Files(more) => files.extend(more),
                known @ Self::Listed(_) => return Ok(vec![known]),
            }
        }
        let mut seen = HashSet::new();
        files.retain(|file| seen.insert(file.at.clone()));
        if files.is_empty() || files.len() > MOST_PHOTOS {
            return Err(BadSettings(format!(
                "{} photographs: a job takes from 1 to {MOST_PHOTOS}",
                files.len()
            )));
        }
        let bytes: usize = files.iter().map(|file| line(file).len()).sum();
        if bytes <= MOST_INLINE_BYTES {
            return Ok(vec![Self::Files(files)]);
        }
        let folder = listing.map(Path::to_owned).or_else(|| around.inputs.clone()).or_else(|| beside(&typed));
        let Some(folder) = folder else {
            return Err(BadSettings(
                "so many photographs need a list: give a folder for it that all workers see, with --listing DIR".into(),
            ));
        };
        Listing::write(&files, &folder).map(|listing| vec![Self::Listed(listing)]).map_err(BadSettings)
    }
}

/// The folder of the photographs: the first that was typed and is one.
fn beside(typed: &[String]) -> Option<PathBuf> {
    let folder = |text: &String| {
        let path = std::path::absolute(text).ok()?;
        if path.is_dir() { Some(path) } else { path.parent().filter(|_| path.is_file()).map(Path::to_owned) }
    };
    typed.iter().find_map(folder)
}

fn is_picture(name: &str) -> bool {
    let end =
        Path::new(name).extension().and_then(|end| end.to_str()).unwrap_or_default().to_ascii_lowercase();
    PICTURES.contains(&end.as_str()) || end == "webp"
}

fn line(file: &File) -> String {
    serde_json::to_string(file).expect("strings and numbers") + "\n"
}

impl Listing {
    /// Writes a list into a folder, under a name that is its digest.
    fn write(files: &[File], folder: &Path) -> Result<Self, String> {
        let text: String = files.iter().map(line).collect();
        let digest = blake3::hash(text.as_bytes()).to_hex().to_string();
        // Hidden, so that it is taken for no photograph.
        let path = folder.join(format!(".nonet-{digest}.photos"));
        let failed = |error: std::io::Error| {
            format!(
                "cannot keep the list of {} photographs in {}: {error}; give another folder that all workers see, with \
                 --listing DIR",
                files.len(),
                folder.display()
            )
        };
        fs::create_dir_all(folder).map_err(failed)?;
        if fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            // The same job again.
        } else {
            let mut draft = PathBuf::from(&path);
            draft.set_extension(format!("draft-{}", std::process::id()));
            let written = fs::File::create(&draft).and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.sync_all()?;
                fs::rename(&draft, &path)
            });
            if let Err(error) = written {
                drop(fs::remove_file(&draft));
                return Err(failed(error));
            }
        }
        let at = std::path::absolute(&path).map_err(failed)?.into_os_string().into_string();
        let at = at.map_err(|path| format!("{}: the path is not UTF-8", path.display()))?;
        Ok(Self { at, photos: files.len() as u64, digest })
    }

    fn read(&self) -> Result<Vec<File>, String> {
        let failed = |why: &dyn std::fmt::Display| {
            format!(
                "{}: {why}; this is the list of the job's photographs, and every worker has to see it",
                self.at
            )
        };
        let len = fs::metadata(&self.at).map_err(|error| failed(&error))?.len();
        if len > MOST_LIST_BYTES {
            return Err(failed(&format_args!("{len} bytes are too many")));
        }
        let text = fs::read_to_string(&self.at).map_err(|error| failed(&error))?;
        if blake3::hash(text.as_bytes()).to_hex().as_str() != self.digest {
            return Err(failed(&"it is not the one that was submitted"));
        }
        let files: Result<Vec<File>, String> =
            text.lines().map(|line| serde_json::from_str(line).map_err(|error| failed(&error))).collect();
        let files = files?;
        files.iter().try_for_each(File::check)?;
        if files.len() as u64 == self.photos { Ok(files) } else { Err(failed(&"it has other photographs")) }
    }
}

/// The photographs of an open job. A list is read when the first of them is wanted: a coordinator need not see it.
pub struct List {
    photos: Photos,
    read: Mutex<Option<Arc<Vec<File>>>>,
}

impl List {
    /// Those of settings, which may come from anywhere.
    ///
    /// # Errors
    ///
    /// What is wrong with them.
    pub fn new(mut photos: Vec<Photos>) -> Result<Self, String> {
        let (Some(photos), true) = (photos.pop(), photos.is_empty()) else {
            return Err("a job has one list of photographs".into());
        };
        let count = match &photos {
            Photos::Typed(text) => return Err(format!("{text}: not looked up yet")),
            Photos::Files(files) => files.iter().try_for_each(File::check).map(|()| files.len() as u64)?,
            Photos::Listed(listing) => {
                let possible = Path::new(&listing.at).is_absolute() && !listing.at.contains(char::is_control);
                if !possible || listing.digest.len() != 64 {
                    return Err("the list of photographs has no path or no digest that can be".into());
                }
                listing.photos
            }
        };
        if count == 0 || count > MOST_PHOTOS as u64 {
            return Err(format!("{count} photographs: a job takes from 1 to {MOST_PHOTOS}"));
        }
        Ok(Self { photos, read: Mutex::default() })
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        match &self.photos {
            Photos::Typed(_) => 0,
            Photos::Files(files) => files.len() as u64,
            Photos::Listed(listing) => listing.photos,
        }
    }

    /// One of them.
    ///
    /// # Errors
    ///
    /// When the list cannot be read, which is tried again next time.
    pub fn get(&self, number: u64) -> Result<File, String> {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        let of =
            |files: &[File]| files.get(at).cloned().ok_or_else(|| format!("there is no photograph {number}"));
        match &self.photos {
            Photos::Typed(text) => Err(format!("{text}: not looked up yet")),
            Photos::Files(files) => of(files),
            Photos::Listed(listing) => {
                let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
                let files = match &*read {
                    Some(files) => Arc::clone(files),
                    None => Arc::clone(read.insert(Arc::new(listing.read()?))),
                };
                drop(read);
                of(&files)
            }
        }
    }

    /// A name for one of them, also where the list cannot be seen.
    pub fn name(&self, number: u64) -> String {
        self.get(number).map_or_else(|_| format!("photograph {} of the list", number + 1), |file| file.at)
    }
}

/// Reads a photograph whole, but none of too many bytes.
///
/// # Errors
///
/// When it is gone, is another one by now, is too large, or cannot be read.
pub fn bytes_of(file: &File, most_bytes: u64, storage: &Arc<dyn Storage>) -> Result<Vec<u8>, String> {
    let why = match file.read_whole(most_bytes, storage) {
        Ok(bytes) => return Ok(bytes),
        Err(why) => why,
    };
    // The name is told beside it.
    let why = why.strip_prefix(&file.at).map_or(why.as_str(), |rest| rest.trim_start_matches(": "));
    Err(why.to_owned())
}
