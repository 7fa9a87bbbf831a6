//! The words of etcd's transactions.

use proto::etcd::{
    Compare, DeleteRangeRequest, PutRequest, RangeRequest, RangeResponse, RequestOp, ResponseOp,
    compare::{CompareResult, CompareTarget, TargetUnion},
    request_op::Request,
    response_op::Response,
};

pub(super) fn put(key: String, value: Vec<u8>) -> RequestOp {
    let put = PutRequest { key: key.into(), value: value.into() };
    RequestOp { request: Some(Request::RequestPut(put)) }
}

pub(super) fn get(key: String) -> RequestOp {
    RequestOp { request: Some(Request::RequestRange(one(key))) }
}

pub(super) fn delete(key: String) -> RequestOp {
    delete_range(key, String::new())
}

/// All keys from `key` on and before `end`.
pub(super) fn delete_range(key: String, end: String) -> RequestOp {
    let delete = DeleteRangeRequest { key: key.into(), range_end: end.into() };
    RequestOp { request: Some(Request::RequestDeleteRange(delete)) }
}

/// Asks for one key.
pub(super) fn one(key: String) -> RangeRequest {
    RangeRequest { key: key.into(), ..RangeRequest::default() }
}

/// True when the key has last changed at this revision; 0: when it is not there.
pub(super) fn changed_at(key: String, revision: i64) -> Compare {
    compare(key, CompareTarget::Mod, TargetUnion::ModRevision(revision))
}

/// True when the key has this value.
pub(super) fn has(key: String, value: Vec<u8>) -> Compare {
    compare(key, CompareTarget::Value, TargetUnion::Value(value.into()))
}

fn compare(key: String, target: CompareTarget, than: TargetUnion) -> Compare {
    Compare {
        result: CompareResult::Equal.into(),
        target: target.into(),
        key: key.into(),
        target_union: Some(than),
    }
}

/// The answer to [`get`].
pub(super) fn got(response: ResponseOp) -> Option<RangeResponse> {
    match response.response {
        Some(Response::ResponseRange(found)) => Some(found),
        _ => None,
    }
}
