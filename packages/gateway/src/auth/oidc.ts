/**
 * Signing in with an identity provider: authorization code with PKCE, by `openid-client`, which checks signature, issuer,
 * audience, times and nonce. What is asked here beside: that the audience is us alone, and that an exact group has a role.
 * E-mail addresses decide nothing.
 */
import * as oidc from 'openid-client';
import { LeaseholdError } from '@leasehold/core/model';
import { roleOfGroups, type OidcOptions } from './options.js';
import type { Role } from './roles.js';

/** What a login carries from its start to its end; lives in a cookie of the browser that began it. */
export interface Pending {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Where to go afterwards, below the base path. */
  readonly to: string;
}

export interface SignedIn {
  readonly user: string;
  readonly role: Role;
}

export class Oidc {
  readonly #options: OidcOptions;
  readonly #redirectUri: string;
  #found: Promise<oidc.Configuration> | undefined;

  constructor(options: OidcOptions, redirectUri: string) {
    this.#options = options;
    this.#redirectUri = redirectUri;
  }

  /** Asked once; again after a failure, so that a provider that is away at the start is no reason to be restarted. */
  configuration(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret } = this.#options;
    const url = new URL(issuer);
    const plain = url.protocol === 'http:' ? { execute: [oidc.allowInsecureRequests] } : {};
    this.#found ??= oidc
      .discovery(
        url,
        clientId,
        clientSecret === undefined ? {} : { client_secret: clientSecret },
        clientSecret === undefined ? oidc.None() : oidc.ClientSecretBasic(clientSecret),
        { timeout: 10, ...plain },
      )
      .then((found) => {
        if (found.serverMetadata().issuer === issuer) return found;
        throw new LeaseholdError('invalid', `oidc.issuer: the provider calls itself ${found.serverMetadata().issuer}`, {
          field: 'oidc.issuer',
        });
      })
      .catch((error: unknown) => {
        this.#found = undefined;
        throw error;
      });
    return this.#found;
  }

  async begin(to: string): Promise<{ readonly url: URL; readonly pending: Pending }> {
    const found = await this.configuration();
    const pending = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
      to,
    };
    const url = oidc.buildAuthorizationUrl(found, {
      redirect_uri: this.#redirectUri,
      scope: ['openid', 'profile', ...(this.#options.scopes ?? [])].join(' '),
      code_challenge: await oidc.calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: 'S256',
      state: pending.state,
      nonce: pending.nonce,
    });
    return { url, pending };
  }

  /** @throws LeaseholdError `invalid`, in words for whoever signs in; the provider's own are in `cause`. */
  async end(query: string, pending: Pending): Promise<SignedIn> {
    const found = await this.configuration();
    const url = new URL(this.#redirectUri);
    url.search = query;
    const answer = await oidc
      .authorizationCodeGrant(found, url, {
        pkceCodeVerifier: pending.verifier,
        expectedState: pending.state,
        expectedNonce: pending.nonce,
        idTokenExpected: true,
      })
      .catch((cause: unknown) => {
        throw new LeaseholdError(
          'invalid',
          'the identity provider did not confirm this sign-in; begin again',
          {},
          { cause },
        );
      });
    const claims = answer.claims();
    if (claims === undefined) throw new LeaseholdError('invalid', 'the identity provider sent no ID token', {});
    return signedIn(claims, this.#options);
  }
}

/** @throws LeaseholdError `invalid`. */
export function signedIn(claims: Readonly<Record<string, unknown>>, options: OidcOptions): SignedIn {
  const { aud, sub, iss } = claims;
  const audiences = Array.isArray(aud) ? (aud as unknown[]) : [aud];
  if (iss !== options.issuer || audiences.length !== 1 || audiences[0] !== options.clientId) {
    throw new LeaseholdError('invalid', 'the ID token was made for somebody else', {});
  }
  if (typeof sub !== 'string' || sub === '') throw new LeaseholdError('invalid', 'the ID token names nobody', {});
  const listed = claims[options.groupsClaim ?? 'groups'];
  const groups = Array.isArray(listed) ? listed.filter((each): each is string => typeof each === 'string') : [];
  const role = roleOfGroups(groups, options.roles);
  if (role === undefined) {
    throw new LeaseholdError('invalid', 'none of your groups has a role on this board; ask whoever runs it', {});
  }
  return { user: userOf(sub, claims['preferred_username']), role };
}

/** The subject decides who somebody is; the name he goes by is only shown, so it cannot be taken for another's. */
function userOf(sub: string, shown: unknown): string {
  const plain = (text: string): string => text.replace(/[^\x21-\x7e]/g, '?').slice(0, 100);
  return typeof shown === 'string' && shown !== sub ? `${plain(shown)} (${plain(sub)})` : plain(sub);
}
