//! Photographs from bytes: pictures that are made here, whole, turned, cut off and damaged.

#[path = "photo_load/make.rs"]
mod make;

#[path = "photo_load/broken.rs"]
mod broken;
#[path = "photo_load/formats.rs"]
mod formats;
#[path = "photo_load/limits.rs"]
mod limits;
#[path = "photo_load/size.rs"]
mod size;
#[path = "photo_load/turned.rs"]
mod turned;
