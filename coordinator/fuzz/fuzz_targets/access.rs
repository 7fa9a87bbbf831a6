//! Any bytes as what says who somebody is: a file of tokens, a token to show, certificates and keys, addresses to show them
//! at.

#![no_main]

use std::{fs, path::Path};

use coordinator::{
    access::{Identity, Role, certificate_identity, certificate_uri, check_name, tokens::Tokens},
    ledger::etcd::Address,
};
use coordinator_fuzz::{folder, pieces};
use libfuzzer_sys::fuzz_target;
use worker::{
    credentials::{Credentials, Token},
    dial::Dial,
    tls::TlsFiles,
};

fn listed(tokens: &Tokens) -> Vec<(Identity, String)> {
    tokens.list().map(|(who, hash)| (who.clone(), hash)).collect()
}

fn tokens(path: &Path) {
    let Ok(mut tokens) = Tokens::read(path) else { return };
    let all = listed(&tokens);
    for (at, (who, _)) in all.iter().enumerate() {
        assert!(check_name(&who.name).is_ok() && who.role != Role::Coordinator);
        assert!(all[..at].iter().all(|(other, _)| other.name != who.name));
    }
    tokens.write(path).expect("written");
    assert_eq!(listed(&Tokens::read(path).expect("it was just written")), all);
    let newcomer = Identity { name: "newcomer".into(), role: Role::Viewer };
    if let Ok(secret) = tokens.add(newcomer.clone()) {
        assert_eq!(tokens.find(&secret), Some(&newcomer));
    }
}

fn token(path: &Path) {
    let Ok(token) = Token::File(path.into()).read() else { return };
    assert!(!token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()));
}

fn certificate(bytes: &[u8]) {
    let Ok(who) = certificate_identity(&bytes.into()) else { return };
    check_name(&who.name).expect("names are looked at");
    assert!(certificate_uri(&who).is_ascii());
}

fn files(bytes: &[u8]) {
    let pieces = pieces(bytes);
    let files = TlsFiles::in_folder(folder());
    let (cert, key) = files.own.as_ref().expect("they are named");
    for (number, path) in [&files.ca, cert, key].into_iter().enumerate() {
        fs::write(path, pieces.get(number).copied().unwrap_or_default()).expect("written");
    }
    drop(files.client());
    drop(files.server());
}

fn addresses(text: &str) {
    drop(Dial::tcp(text, Credentials { allow_plaintext: true, ..Credentials::default() }));
    let Ok(address) = Address::parse(text) else { return };
    assert_eq!(Address::parse(&address.to_string()).as_ref(), Ok(&address));
}

fuzz_target!(|bytes: &[u8]| {
    let Some((which, rest)) = bytes.split_first() else { return };
    let path = folder().join("access");
    match which % 5 {
        0 => {
            fs::write(&path, rest).expect("written");
            tokens(&path);
        }
        1 => {
            fs::write(&path, rest).expect("written");
            token(&path);
        }
        2 => certificate(rest),
        3 => files(rest),
        _ => std::str::from_utf8(rest).into_iter().for_each(addresses),
    }
});
