//! From what was typed to the files of a job.

use std::{
    io::Read,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize, Serializer};

use super::{
    file::File,
    packing::{FIRST_BYTES, Packing},
    piped, place,
    storage::{Local, Storage},
    unpack,
};
use crate::kind::BadSettings;

/// What a user named: a file, a folder, a URL, or `-`. Only what it was found to be goes into settings.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Files")]
pub enum Source {
    /// As it was typed; it cannot be serialised.
    Typed(String),
    /// The files that it stands for.
    Found(Files),
}

/// The files of a source, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Files {
    /// At least one.
    pub files: Vec<File>,
}

impl TryFrom<Files> for Source {
    type Error = String;

    fn try_from(files: Files) -> Result<Self, String> {
        files.files.iter().try_for_each(File::check).map(|()| Self::Found(files))
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Typed(text) => Err(serde::ser::Error::custom(format!("{text}: not looked up yet"))),
            Self::Found(files) => files.serialize(serializer),
        }
    }
}

/// What there is where a job is submitted, and nowhere else.
pub struct Surroundings<'a> {
    /// Reads what is typed.
    pub storage: Arc<dyn Storage>,
    /// The folder that keeps what comes through standard input, if it can be read at all.
    pub inputs: Option<PathBuf>,
    /// Tells the user what takes so long.
    pub tell: &'a (dyn Fn(&str) + Sync),
}

impl Surroundings<'static> {
    /// Files on disk and nothing else.
    pub fn local() -> Self {
        Self { storage: Arc::clone(Local::shared()), inputs: None, tell: &|_| {} }
    }
}

/// What stands for standard input.
pub const STANDARD_INPUT: &str = "-";

/// Files that are looked at side by side: packed ones are unpacked, others have their first bytes read.
const SIDE_BY_SIDE: usize = 4;

impl Source {
    /// Takes what was typed, if it can name something.
    ///
    /// # Errors
    ///
    /// When it is a URL of a kind that is not read, or none.
    pub fn typed(text: &str) -> Result<Self, String> {
        if text != STANDARD_INPUT {
            place::check(&place::read(text)?)?;
        }
        Ok(Self::Typed(text.to_owned()))
    }

    /// Looks all of them up. May take long: packed files are unpacked once, for their length.
    ///
    /// # Errors
    ///
    /// When one is not there, cannot be read, or is damaged.
    pub fn look_up(sources: Vec<Self>, around: &Surroundings<'_>) -> Result<Vec<Self>, BadSettings> {
        let mut read_already = false;
        let found = sources.into_iter().map(|source| {
            match source {
                Self::Typed(text) if text == STANDARD_INPUT => {
                    if std::mem::replace(&mut read_already, true) {
                        return Err(BadSettings("standard input (-) can be read only once".into()));
                    }
                    keep(&mut std::io::stdin().lock(), around).and_then(|path| find(&path, around))
                }
                Self::Typed(text) => place::read(&text).and_then(|place| find(&place, around)),
                Self::Found(files) => Ok(files),
            }
            .map(Self::Found)
            .map_err(BadSettings)
        });
        found.collect()
    }

    /// The files of all of them, in order.
    ///
    /// # Errors
    ///
    /// When one has not been looked up.
    pub fn files(sources: Vec<Self>) -> Result<Vec<File>, BadSettings> {
        let mut files = Vec::new();
        for source in sources {
            match source {
                Self::Typed(text) => return Err(BadSettings(format!("{text}: not looked up yet"))),
                Self::Found(found) => files.extend(found.files),
            }
        }
        Ok(files)
    }
}

/// Keeps standard input in a file, and gives its name.
fn keep(input: &mut dyn Read, around: &Surroundings<'_>) -> Result<String, String> {
    let Some(folder) = &around.inputs else {
        return Err(
            "standard input (-) can be read by `nonet run` only: put it into a file that all workers see"
                .into(),
        );
    };
    let news = News::new(around);
    piped::keep(input, folder, &mut |bytes| {
        news.tell(|| format!("reading standard input: {} so far", megabytes(bytes)));
    })
}

/// The files at a place, and how they are packed.
pub(super) fn find(place: &str, around: &Surroundings<'_>) -> Result<Files, String> {
    let mut files = around.storage.find(place)?;
    let news = News::new(around);
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
    let unseen = Mutex::new(files.iter_mut());
    let count = unseen.lock().unwrap_or_else(PoisonError::into_inner).len();
    let look = || loop {
        let file = unseen.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some(file) = file else { return };
        let number = next.fetch_add(1, Ordering::Relaxed) + 1;
        news.tell(|| format!("looking at file {number} of {count}"));
        if let Err(error) = look_at(file, around, &news) {
            // The others are not looked at: one that is wrong is enough.
            unseen.lock().unwrap_or_else(PoisonError::into_inner).by_ref().for_each(drop);
            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    };
    thread::scope(|scope| {
        for _ in 1..count.min(SIDE_BY_SIDE) {
            scope.spawn(look);
        }
        look();
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(Files { files }),
    }
}

/// How a file is packed, and its length unpacked.
fn look_at(file: &mut File, around: &Surroundings<'_>, news: &News<'_>) -> Result<(), String> {
    /// Of these only one is unpacked at a time: each may take much memory.
    static ZSTD: Mutex<()> = Mutex::new(());
    let mut first = Vec::new();
    around.storage.read(file, 0..file.stored_bytes.min(FIRST_BYTES), &mut first)?;
    let Some(by) = Packing::of(&first).map_err(|error| format!("{}: {error}", file.at))? else {
        return Ok(());
    };
    let _alone = (by == Packing::Zstd).then(|| ZSTD.lock().unwrap_or_else(PoisonError::into_inner));
    let packed = unpack::measure(by, file, &around.storage, &mut |bytes| {
        let (name, at) = (by.name(), &file.at);
        let so_far = megabytes(bytes);
        news.tell(|| format!("{at}: reading the {name} file once, for its length unpacked: {so_far} so far"));
    })?;
    file.packed = Some(packed);
    Ok(())
}

/// Tells what takes long: a first time after a second, then now and then.
struct News<'a> {
    around: &'a Surroundings<'a>,
    next: Mutex<(Instant, Duration)>,
}

impl<'a> News<'a> {
    fn new(around: &'a Surroundings<'a>) -> Self {
        Self { around, next: Mutex::new((Instant::now(), Duration::from_secs(1))) }
    }

    fn tell(&self, what: impl FnOnce() -> String) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, wait) = *next;
        if since.elapsed() >= wait {
            *next = (Instant::now(), (wait * 5).min(Duration::from_secs(60)));
            (self.around.tell)(&what());
        }
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes / 1_000_000)
}
