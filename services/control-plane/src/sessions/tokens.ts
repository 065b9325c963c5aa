import { createHash, randomBytes } from 'node:crypto';
import { deviceTokenPrefix } from '@countersign/contracts/control-plane';

/** The holder of a session: a browser by its cookies, or an authorized program. */
export type Holder = 'browser' | 'device';
/** The use of each kind of token: `access` with each request, `refresh` for the next pair. */
type TokenKind = 'access' | 'refresh';

const prefixOf = {
  browser: { access: 'cpa_', refresh: 'cpr_' },
  device: { access: deviceTokenPrefix, refresh: 'csr_' },
} as const;

/** 256 random bits with a prefix that identifies a leaked token. */
export function newToken(holder: Holder, kind: TokenKind): string {
  return `${prefixOf[holder][kind]}${randomBytes(32).toString('base64url')}`;
}

/** 256 random bits with which a program polls for its authorization. */
export function newDeviceCode(): string {
  return `cdc_${randomBytes(32).toString('base64url')}`;
}

/** 256 random bits with which a page opens one socket. */
export function newTicket(): string {
  return `tkt_${randomBytes(32).toString('base64url')}`;
}

/** 128 random bits that identify a login in progress. */
export function newLoginId(): string {
  return `lgn_${randomBytes(16).toString('base64url')}`;
}

/** Whether the text can be a token of this kind. `text` is attacker-controlled. */
export function looksLikeToken(holder: Holder, kind: TokenKind, text: string): boolean {
  return text.startsWith(prefixOf[holder][kind]) && /^[a-z]{3}_[A-Za-z0-9_-]{43}$/.test(text);
}

/** The hash that is stored instead of the value. Random values need no salt and no slow hash. */
export function hashOf(value: string): string {
  return createHash('sha256').update(value).digest('hex');
}
