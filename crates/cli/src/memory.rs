//! The global allocator of the command. It wraps the system allocator, and lets a check finish its reports when memory runs out.
//!
//! Without it, the process would abort, or hang while it prints the reason. Instead, a judging thread that runs out of memory is parked, and the
//! reports are finished without its results, with exit code 5. Memory for the reports is reserved at the start; its pages stay untouched, so the
//! system provides them only when needed.

#![allow(unsafe_code, reason = "an allocator has no other form; all it does is ask that of the system")]

use averment_base::memory::{MemoryAction, memory_action};
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write as _;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: ExitingAllocator = ExitingAllocator;

/// Memory reserved to finish the reports of many runs.
const ASIDE: Layout = Layout::new::<[u64; (24 << 20) / 8]>();
static SET_ASIDE: AtomicPtr<u8> = AtomicPtr::new(null_mut());

/// Free memory required at the start besides the reserve, because the main thread's stack grows and the system kills the process if it cannot.
const BESIDE: Layout = Layout::new::<[u64; (6 << 20) / 8]>();

/// Address space that glibc's allocator reserves for the heap of each thread.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const OF_HEAP: u64 = 128 << 20;
/// Maximum number of threads besides the judging ones.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const OTHER_THREADS: u64 = 8;

/// Makes all threads share one heap if the address space is too small for one heap each. Otherwise glibc would try to reserve a heap at each
/// allocation and map each block separately, which slowed a short check down to seconds.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn share_heap() {
    use rustix::process::{Resource, getrlimit};
    use std::ffi::c_int;
    const M_ARENA_MAX: c_int = -8;
    unsafe extern "C" {
        safe fn mallopt(option: c_int, value: c_int) -> c_int;
    }
    // Counting the processors reads files, so it is done only if there is a limit.
    let judging = || std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    if getrlimit(Resource::As).current.is_some_and(|space| space / OF_HEAP < judging().saturating_add(OTHER_THREADS)) {
        mallopt(M_ARENA_MAX, 1);
    }
}

/// Reserves memory. If there is not enough, the process continues without a reserve. Must be called before any thread starts.
pub fn set_aside() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    share_heap();
    // SAFETY: the layouts are not empty. The first block is freed here, the second one once by `give_back`, each with the same layout.
    unsafe {
        let beside = System.alloc(BESIDE);
        if !beside.is_null() {
            SET_ASIDE.store(System.alloc(ASIDE), Ordering::SeqCst);
            System.dealloc(beside, BESIDE);
        }
    }
}

/// Frees the reserve; false if it was already freed.
fn give_back() -> bool {
    let aside = SET_ASIDE.swap(null_mut(), Ordering::SeqCst);
    if !aside.is_null() {
        // SAFETY: the block was allocated by `set_aside` with this layout, and only the caller that swaps the pointer out can free it.
        unsafe { System.dealloc(aside, ASIDE) }
    }
    !aside.is_null()
}

/// Called when an allocation fails; `again` retries it.
#[cold]
#[inline(never)]
fn handle_alloc_failure(size: usize, again: &dyn Fn() -> *mut u8) -> *mut u8 {
    match memory_action() {
        MemoryAction::ReturnNull => null_mut(),
        MemoryAction::ParkThread => {
            give_back();
            loop {
                std::thread::sleep(Duration::from_secs(3600));
            }
        }
        MemoryAction::EndProcess => {
            let block = if give_back() { again() } else { null_mut() };
            if block.is_null() {
                exit_exhausted(size)
            }
            block
        }
    }
}

/// Ends the process without allocating memory.
fn exit_exhausted(size: usize) -> ! {
    let _ = writeln!(std::io::stderr(), "error: there is no memory to go on: {size} bytes could not be had");
    std::process::exit(crate::commands::exit::after_breakdown().into())
}

/// The system allocator, which ends the process or parks the thread if memory runs out.
struct ExitingAllocator;

// SAFETY: every block comes from the system allocator and returns to it with the requested layout. A failed call returns a null pointer or never
// returns; no call unwinds.
unsafe impl GlobalAlloc for ExitingAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of `GlobalAlloc`, which is also that of the system allocator. This holds for all four methods.
        let ask = || unsafe { System.alloc(layout) };
        let block = ask();
        if block.is_null() { handle_alloc_failure(layout.size(), &ask) } else { block }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let ask = || unsafe { System.alloc_zeroed(layout) };
        let block = ask();
        if block.is_null() { handle_alloc_failure(layout.size(), &ask) } else { block }
    }

    #[inline]
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above. A block that could not grow still belongs to the caller, so the call may be repeated.
        let ask = || unsafe { System.realloc(old, layout, size) };
        let block = ask();
        if block.is_null() { handle_alloc_failure(size, &ask) } else { block }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_grow_and_what_is_set_aside_is_given_back_once() {
        set_aside();
        let mut bytes = vec![1_u8; 100];
        bytes.extend(vec![0; bytes.len() * 50]);
        assert_eq!(bytes.iter().map(|byte| usize::from(*byte)).sum::<usize>(), 100);
        assert!(give_back());
        assert!(!give_back());
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri takes that much memory from the machine")]
    fn whoever_is_prepared_for_it_is_told_that_there_is_no_memory() {
        let asked = averment_base::memory::allow_failure(|| Vec::<u8>::new().try_reserve_exact(1 << 46));
        assert!(asked.is_err());
    }
}
