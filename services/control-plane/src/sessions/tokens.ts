import { createHash, randomBytes } from 'node:crypto';

/** What a browser presents: `access` with each request, `refresh` for the next pair. */
type TokenKind = 'access' | 'refresh';

const prefixOf = { access: 'cpa_', refresh: 'cpr_' } as const;

/** 256 random bits behind a prefix that tells what turned up where it should not. */
export function newToken(kind: TokenKind): string {
  return `${prefixOf[kind]}${randomBytes(32).toString('base64url')}`;
}

/** 128 random bits: of a login that began. */
export function newLoginId(): string {
  return `lgn_${randomBytes(16).toString('base64url')}`;
}

/** Whether the text can be a token of this kind. `text` is attacker-controlled. */
export function looksLikeToken(kind: TokenKind, text: string): boolean {
  return text.startsWith(prefixOf[kind]) && /^cp[ar]_[A-Za-z0-9_-]{43}$/.test(text);
}

/** What is stored in place of a random value: it needs no salt and no slow hash. */
export function hashOf(value: string): string {
  return createHash('sha256').update(value).digest('hex');
}
