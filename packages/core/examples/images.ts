import { chord, defineTask, handle, type Client } from '@leasehold/core';

export const resize = defineTask('resize', { args: ['string', 'int32'], results: ['string'] });
export const upload = defineTask('upload', { args: ['string'], variadic: 'string', results: ['int32'] });
export const tell = defineTask('tell', { args: ['json'] });

export const handlers = [
  handle(resize, ([image, width]) => `${image}@${width}`),
  handle(upload, ([bucket, ...images]) => {
    if (bucket === '') throw new Error('no bucket');
    return images.length;
  }),
  handle(tell, () => undefined),
];

/** All sizes at the same time, at most two at once; then one upload with all of them, in their order. */
export async function main(client: Client): Promise<readonly unknown[]> {
  const sizes = [64, 256, 1024].map((width) => resize.signature(['cat.png', width]));
  const submitted = await client.submit(
    chord(sizes, upload.partial(['thumbnails']), { concurrency: 2, onFailure: 'wait-all', onError: tell.partial([]) }),
  );
  return submitted.result();
}
