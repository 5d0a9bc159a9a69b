export * from './tasks.js';
export { compressImage as compress, BadQualityError } from './compress.js';
export { uploadToS3 as upload, BadUploadError } from './upload.js';
export { folderBucket, s3Bucket, IncompleteUploadError, type Bucket, type S3Settings } from './bucket.js';
export { PathError } from './folder.js';
export { makePictures } from './pictures.js';
export { mediaHandlers } from './serve.js';
export type { Work } from './work.js';
