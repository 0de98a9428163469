// SPDX-License-Identifier: MIT
//! Threads that give blocks to each other and end; a program without the test harness, so that
//! its figures are its own.

fn main() {
    program::main()
}

mod program {
    use std::sync::mpsc::channel;
    use std::thread;

    use ashlar::Ashlar;

    #[global_allocator]
    static A: Ashlar = Ashlar;

    fn exchange(round: usize) -> usize {
        let (send, receive) = channel::<Vec<usize>>();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let send = send.clone();
                thread::spawn(move || (0..1000).for_each(|i| send.send(vec![i; i % 60 + round]).unwrap()))
            })
            .collect();

        drop(send);
        let sum = receive.iter().map(|v| v.len()).sum();
        threads.into_iter().for_each(|t| t.join().unwrap());
        sum
    }

    pub fn main() {
        let before = exchange(0) * 0 + A.stats().blocks;
        let sum: usize = (1..20).map(exchange).sum();
        assert_eq!(sum, (1..20).map(|round| 4 * (1000 * round + (0..1000).map(|i| i % 60).sum::<usize>())).sum());
        assert!(A.stats().blocks <= before + 50);

        // Threads that come and go leave no memory behind, without a word of theirs.
        let reserved = A.stats().reserved;
        for _ in 0..1000 {
            thread::spawn(|| drop((0..200).map(|i| vec![0u8; i]).collect::<Vec<_>>())).join().unwrap();
        }
        assert_eq!(A.stats().reserved, reserved);
        assert!(A.stats().owners < 20);
        assert_eq!(A.check(), 0);
        println!("{} numbers, {} owner records: ok", sum, A.stats().owners);
    }
}
