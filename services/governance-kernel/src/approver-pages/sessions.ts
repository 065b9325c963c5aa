import { createHmac, randomBytes } from 'node:crypto';
import { AccessKeyId, AppError, type ApprovalId, type Digest, type PrincipalId } from '@countersign/contracts';
import type { CredentialId } from '@countersign/contracts/governance-kernel';
import { secretsEqual } from '@countersign/service-kit';
import type { AccessKeyRow } from '../access-keys/access-keys.ts';
import type { PresentedKeys } from '../access-keys/presented-keys.ts';
import { cookieOf, cookieText, endedCookieText } from './cookie.ts';

type Parts = {
  keys: Pick<PresentedKeys, 'get' | 'findById'>;
  /** The secret of the installation: every replica accepts its sessions. */
  secret: string;
  isSecure: boolean;
  clock: () => Date;
};

/** A person at a browser, proven by an approver key that was good a moment ago. */
export type ApproverSession = { readonly key: AccessKeyRow; readonly text: string };

/** Long enough to read a call and to ask about it; a person who needs longer signs in again. */
const sessionMs = 900_000;

/**
 * Sessions of people who decide on pages. A session names its key and when it ends, under our HMAC; it holds no right of its own,
 * since the key is read again with each request.
 */
export class ApproverSessions {
  readonly #parts: Parts;
  readonly #macKey: Buffer;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#macKey = createHmac('sha256', parts.secret).update('countersign approver session').digest();
  }

  /** The cookie of a new session. Throws CREDENTIALS_INVALID for whatever is not the living key of an approver. */
  async open(secret: string): Promise<string> {
    const key = await this.#parts.keys.get(secret);
    if (key.kind !== 'approver') throw new AppError('CREDENTIALS_INVALID', 'This key is not the key of an approver');
    const endsAtMs = this.#parts.clock().getTime() + sessionMs;
    const said = `${key.id}.${endsAtMs}.${randomBytes(16).toString('base64url')}`;
    const text = `${said}.${this.#mac('session', said)}`;
    return cookieText(text, { ageSeconds: sessionMs / 1000, isSecure: this.#parts.isSecure });
  }

  /** The session of the browser that sent this; `null` for a stranger, or when the session or key has ended. */
  async find(cookieHeader: string | undefined): Promise<ApproverSession | null> {
    const text = cookieOf(cookieHeader);
    const id = text === null ? null : this.#keyOf(text);
    if (text === null || id === null) return null;
    const key = await this.#parts.keys.findById(id);
    return key?.kind === 'approver' ? { key, text } : null;
  }

  get endedCookie(): string {
    return endedCookieText(this.#parts.isSecure);
  }

  /** The token in a form: a request with it has seen this form in this session. */
  csrfToken({ text }: ApproverSession, form: FormOf): string {
    return this.#mac('form', `${text}\n${formName(form)}`);
  }

  /** Throws PERMISSION_DENIED for a form that another page, or another session, has made up. */
  requireForm(session: ApproverSession, form: FormOf, token: string): void {
    if (secretsEqual(token, this.csrfToken(session, form))) return;
    throw new AppError('PERMISSION_DENIED', 'This form is not from a page that was shown in this session');
  }

  #keyOf(text: string): AccessKeyId | null {
    const parts = /^((key_[0-9A-Z]{26})\.(\d{1,15})\.[A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/.exec(text);
    const [, said = '', id = '', endsAtMs = '', mac = ''] = parts ?? [];
    if (parts === null || !secretsEqual(mac, this.#mac('session', said))) return null;
    return Number(endsAtMs) <= this.#parts.clock().getTime() ? null : AccessKeyId.parse(id);
  }

  #mac(purpose: 'session' | 'form', text: string): string {
    return createHmac('sha256', this.#macKey).update(`${purpose}\n${text}`).digest('base64url');
  }
}

/** A decision names the state that was shown, so a form is good for that state alone. */
type FormOf =
  | { id: ApprovalId; action: 'decide'; ceremonyHash: Digest }
  | { id: ApprovalId; action: 'enrol' }
  | { id: ApprovalId | null; action: 'sign-out' }
  | { action: 'vouch'; principal: PrincipalId; credential: CredentialId };

function formName(form: FormOf): string {
  switch (form.action) {
    case 'decide':
      return `decide\n${form.id}\n${form.ceremonyHash}`;
    case 'vouch':
      return `vouch\n${form.credential}\n${form.principal}`;
    default:
      return `${form.action}\n${form.id ?? ''}`;
  }
}
