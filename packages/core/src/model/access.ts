/** Who may come in to a board: records of sessions and API tokens. What they may do is the board's vocabulary. */

/** Narrows whoever has it to some queues and task names; a part that is absent narrows nothing. Both must hold. */
export interface AccessScope {
  readonly queues?: readonly string[];
  readonly taskNames?: readonly string[];
}

/** `tokens/<id>`. The token itself is shown once and never stored. */
export interface TokenRecord {
  readonly id: string;
  /** What it is for, in the words of whoever made it. */
  readonly title: string;
  /** Its first characters, by which people tell tokens apart. */
  readonly prefix: string;
  /** SHA-256 of the token, hex. It is 256 random bits, so no slow hash is needed. */
  readonly hash: string;
  readonly permissions: readonly string[];
  readonly scope?: AccessScope;
  readonly createdMs: number;
  readonly expiresMs: number;
  /** Who made it. */
  readonly by: string;
}

/** `sessions/<hash>`, under a lease as long as the idle time. */
export interface UserSessionRecord {
  readonly user: string;
  /** How the user showed who he is. */
  readonly method: 'local' | 'oidc';
  /** What the identity provider's groups gave; local users have the role that the users file says now. */
  readonly role?: string;
  readonly createdMs: number;
  /** Whatever happens, it ends then. */
  readonly expiresMs: number;
  /** Changes when the password does: sessions from before it are over. */
  readonly stamp?: string;
  readonly address?: string;
}
