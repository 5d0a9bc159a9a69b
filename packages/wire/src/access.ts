/** Signing in, who one is, and API tokens. */
import { z } from 'zod';
import { Done } from './rest.js';
import { Millis } from './scalars.js';

export const LoginBody = z.strictObject({
  user: z.string().min(1).max(100),
  password: z.string().min(1).max(1_024),
});

export const AccessScopeView = z.strictObject({
  queues: z.array(z.string().min(1).max(600)).max(200).exactOptional(),
  taskNames: z.array(z.string().min(1).max(600)).max(200).exactOptional(),
});

export const WhoAmI = z.object({
  /** How one can sign in here. */
  ways: z.object({ password: z.boolean(), oidc: z.boolean() }),
  user: z
    .object({
      name: z.string(),
      role: z.string().exactOptional(),
      method: z.string().exactOptional(),
      permissions: z.array(z.string()),
      scope: AccessScopeView.exactOptional(),
      canSignOut: z.boolean(),
    })
    .exactOptional(),
});
export type WhoAmI = z.infer<typeof WhoAmI>;

export const SignedInOrOut = z.object({ ok: z.literal(true) });

export const TokenView = z.object({
  id: z.string(),
  title: z.string(),
  /** Its first characters: all that can be seen of it again. */
  prefix: z.string(),
  permissions: z.array(z.string()),
  scope: AccessScopeView.exactOptional(),
  createdMs: Millis,
  expiresMs: Millis,
  by: z.string(),
});
export type TokenView = z.infer<typeof TokenView>;

export const TokenList = z.object({ tokens: z.array(TokenView), grantable: z.array(z.string()) });
export type TokenList = z.infer<typeof TokenList>;

const reason = z.string().min(1).max(500);

export const CreateToken = z.strictObject({
  title: z.string().trim().min(1).max(100),
  permissions: z.array(z.string().max(60)).min(1).max(100),
  scope: AccessScopeView.exactOptional(),
  lifeDays: z.int().min(1).max(365).default(90),
  reason: reason.exactOptional(),
});
export const TokenCreated = Done.extend({ token: z.string() });
export const RevokeToken = z.strictObject({ reason: reason.exactOptional() });
export const SignOutUser = z.strictObject({ user: z.string().min(1).max(300), reason });
export const SignedOut = z.object({ count: z.number() });

/** Seeing what is hidden is an act: it has a reason, and is recorded before anything is shown. */
export const RevealTask = z.strictObject({ reason });
const Plain = z.object({ type: z.string(), name: z.string().exactOptional(), value: z.unknown() });
export const Revealed = z.object({
  id: z.string(),
  args: z.array(Plain),
  results: z.array(Plain).exactOptional(),
  error: z.string().exactOptional(),
  headers: z.record(z.string(), z.string()).exactOptional(),
});
export type Revealed = z.infer<typeof Revealed>;
