import { chain, defineTask, FinalError, handle, type Client } from '@leasehold/core';

export const verifyUser = defineTask('verify-user', { args: { user: 'string' }, results: ['string'] });
/** Its last argument is the result of the step before: results are appended to own arguments. */
export const updateProfile = defineTask('update-profile', {
  args: { city: 'string', verified: 'string' },
  results: ['string'],
});

export const handlers = [
  handle(verifyUser, ({ user }) => {
    if (!user.includes('@')) throw new FinalError(`${user} is no address; no retry will make it one`);
    return user.toLowerCase();
  }),
  handle(updateProfile, ({ city, verified }) => `${verified} lives in ${city}`),
];

export async function main(client: Client): Promise<readonly unknown[]> {
  const submitted = await client.submit(
    chain([verifyUser.signature({ user: 'Ann@Example.org' }), updateProfile.partial({ city: 'Oslo' })]),
  );
  return submitted.result();
}
