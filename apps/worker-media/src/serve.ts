import { handle, type Handling } from '@leasehold/core';
import type { Bucket } from './bucket.js';
import { compressImage as compress } from './compress.js';
import { compressImage, uploadToS3 } from './tasks.js';
import { uploadToS3 as upload } from './upload.js';

/** Which function runs which task, on the files below `folder`. */
export function mediaHandlers(folder: string, bucket: Bucket): readonly Handling[] {
  return [
    handle(compressImage, (args, context) => compress(folder, args, context)),
    handle(uploadToS3, (args, context) => upload(folder, bucket, args, context)),
  ];
}
