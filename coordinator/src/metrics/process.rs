//! What this process takes of its machine, by the names that all programs have for it.

/// As the system tells. What it does not tell is 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Process {
    /// Processor time, in seconds.
    pub cpu_s: f64,
    /// Memory in use.
    pub resident_bytes: u64,
    /// Memory asked for.
    pub virtual_bytes: u64,
    /// Open files, sockets among them.
    pub open_fds: u64,
    /// How many it may have open.
    pub max_fds: u64,
    /// Threads.
    pub threads: u64,
    /// When it began, in seconds since 1970.
    pub started_unix_s: f64,
}

impl Process {
    /// This one, now.
    #[cfg(target_os = "linux")]
    pub fn now() -> Self {
        // Any of it may be hidden from a process in a sandbox; the rest is told all the same.
        linux::read().unwrap_or_default()
    }

    /// This one, now. Only Linux tells.
    #[cfg(not(target_os = "linux"))]
    pub fn now() -> Self {
        Self::default()
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use procfs::{
        WithCurrentSystemInfo,
        process::{LimitValue, Process as Entry, Stat},
        ticks_per_second,
    };

    use super::Process;

    pub fn read() -> procfs::ProcResult<Process> {
        let entry = Entry::myself()?;
        let stat = entry.stat()?;
        let max_fds = match entry.limits()?.max_open_files.soft_limit {
            LimitValue::Value(most) => most,
            LimitValue::Unlimited => u64::MAX,
        };
        Ok(Process {
            cpu_s: seconds(stat.utime + stat.stime),
            resident_bytes: stat.rss_bytes().get(),
            virtual_bytes: stat.vsize,
            open_fds: u64::try_from(entry.fd_count()?).unwrap_or(u64::MAX),
            max_fds,
            threads: u64::try_from(stat.num_threads).unwrap_or(0),
            started_unix_s: started(&stat)?,
        })
    }

    fn started(stat: &Stat) -> procfs::ProcResult<f64> {
        #[allow(clippy::cast_precision_loss, reason = "seconds since 1970 fit")]
        let boot_s = procfs::boot_time_secs()? as f64;
        Ok(boot_s + seconds(stat.starttime))
    }

    #[allow(clippy::cast_precision_loss, reason = "a time to be looked at")]
    fn seconds(ticks: u64) -> f64 {
        ticks as f64 / ticks_per_second() as f64
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::time::{SystemTime, UNIX_EPOCH};

    use super::*;

    #[test]
    fn this_process_has_begun_lately_and_takes_memory() {
        let process = Process::now();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs_f64();
        assert!(process.started_unix_s > now - 3600.0 && process.started_unix_s < now + 5.0, "{process:?}");
        assert!(process.resident_bytes > 1 << 20 && process.virtual_bytes > process.resident_bytes);
        assert!(process.open_fds > 2 && process.open_fds < process.max_fds && process.threads > 0);
    }
}
