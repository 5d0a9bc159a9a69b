/** What can be asked of this worker. Import it to submit with types; it pulls in no image library. */
import { defineTask } from '@leasehold/core';

export const compressImage = defineTask('compressImage', {
  queue: 'media',
  args: {
    path: { type: 'string', help: 'Below the media folder, such as images/dunes.png' },
    quality: { type: 'int32', help: '1 (small) to 100 (faithful)' },
  },
  // uint32, not int64: it goes on to uploadToS3 among arguments of any JSON, and JSON carries 64 bits only as text.
  results: ['string', 'uint32'],
  description: 'Makes a JPEG of a picture; gives its path and its size in bytes',
  retry: { count: 2 },
  timeoutMs: 120_000,
});

/**
 * Also the callback of a chord of `compressImage`, or the step after it in a chain: what it gets is then
 * path, bytes, path, bytes...
 */
export const uploadToS3 = defineTask('uploadToS3', {
  queue: 'media',
  args: [{ name: 'path', type: 'string', help: 'Below the media folder, such as images/dunes.png' }],
  variadic: 'json',
  results: ['[]string', 'int64'],
  description: 'Stores files in an S3 bucket, or in a local folder when none is configured; gives their addresses',
  retry: { count: 4, backoff: 'exponential', delayMs: 1_000 },
  timeoutMs: 300_000,
});
