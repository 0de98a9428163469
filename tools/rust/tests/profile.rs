// SPDX-License-Identifier: MIT
//! The feature `profile`: what places allocate is in the profile.  Without the test harness: random numbers begin alike in
//! each process, so no verdict hangs on chance.  With an argument, the profile goes to a file of this name.

#[cfg(not(feature = "profile"))]
fn main() {}

#[cfg(feature = "profile")]
fn main() {
    program::main()
}

#[cfg(feature = "profile")]
mod program {
    use std::thread;

    use ashlar::{profile, Ashlar};

    #[global_allocator]
    static A: Ashlar = Ashlar;

    const DISTANCE: usize = 16 << 10;

    #[inline(never)]
    fn keeps(count: usize) -> Vec<Box<[u8; 7000]>> {
        (0..count).map(|_| Box::new([1; 7000])).collect()
    }

    #[inline(never)]
    fn passes(count: usize) {
        for i in 0..count {
            std::hint::black_box(Box::new([i as u8; 3000]));
        }
    }

    fn text() -> String {
        let mut text = String::with_capacity(4 << 20); // its growth would be samples, too

        profile::write(&mut text).unwrap();
        text
    }

    /// What the profile says of blocks of this size: live and all, as pprof estimates them.
    fn blocks(text: &str, size: usize) -> (f64, f64) {
        let chance = 1.0 - (-(size as f64) / DISTANCE as f64).exp();
        let (mut live, mut all) = (0, 0);

        for line in text.lines().skip(1).take_while(|line| !line.is_empty()) {
            let numbers: Vec<usize> = line.split(' ').take(4).map(|n| n.trim_matches(&['[', ']', ':'][..]).parse().unwrap()).collect();
            assert_eq!(line.split(' ').nth(4), Some("@"), "{}", line);
            assert_eq!(numbers[0] == 0, numbers[1] == 0);
            if numbers[3] == numbers[2] * size {
                live += numbers[0];
                all += numbers[2];
            }
        }
        (live as f64 / chance, all as f64 / chance)
    }

    /// Within four standard deviations.
    fn is_near(estimate: f64, count: f64, size: usize) -> bool {
        let chance = 1.0 - (-(size as f64) / DISTANCE as f64).exp();

        (estimate - count).powi(2) <= 16.0 * count * (1.0 / chance - 1.0)
    }

    /// The usable bytes of a block.
    fn usable<T>(block: Box<T>) -> usize {
        unsafe { A.usable_size((&*block as *const T).cast()) }
    }

    pub fn main() {
        profile::set_distance(DISTANCE);
        let (large, small) = (usable(Box::new([1u8; 7000])), usable(Box::new([1u8; 3000])));
        let first = keeps(1000);
        let second = thread::spawn(|| keeps(500)).join().unwrap();
        passes(5000);

        let now = text();
        assert!(now.starts_with("heap profile: ") && now.lines().next().unwrap().ends_with("] @ heap_v2/16384"));
        let (live, all) = blocks(&now, large);
        assert!(is_near(live, 1500.0, large) && is_near(all, 1500.0, large), "{} {}", live, all);
        let (live, all) = blocks(&now, small);
        assert!(live < 20.0 && is_near(all, 5000.0, small), "{} {}", live, all);
        let program = std::env::current_exe().unwrap();
        assert!(now.split("\nMAPPED_LIBRARIES:\n").nth(1).unwrap().contains(program.to_str().unwrap()));
        if let Some(name) = std::env::args().nth(1) {
            std::fs::write(name, &now).unwrap();
        }

        // Beside threads that allocate, and of what is released.
        drop(first);
        thread::scope(|s| {
            s.spawn(|| passes(20_000));
            (0..20).for_each(|_| assert!(text().len() > 100));
        });
        let (live, all) = blocks(&text(), large);
        assert!(is_near(live, 500.0, large) && is_near(all, 1500.0, large), "{} {}", live, all);
        drop(second);
        assert_eq!(blocks(&text(), large).0, 0.0);

        // No samples from now on, after those that the threads have begun.
        profile::set_distance(0);
        passes(1000);
        let (before, _) = (blocks(&text(), small).1, drop(keeps(100)));
        passes(5000);
        assert_eq!((blocks(&text(), small).1, A.check()), (before, 0));
        println!("the profile: ok");
    }
}
