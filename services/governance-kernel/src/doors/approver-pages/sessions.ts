import { createHmac, randomBytes } from 'node:crypto';
import { AccessKeyId, AppError, type ApprovalId, type Digest, type PrincipalId } from '@countersign/contracts';
import type { CredentialId } from '@countersign/contracts/governance-kernel';
import { secretsEqual } from '@countersign/service-kit';
import type { AccessKeyRow } from '../../controls/access-keys/access-keys.ts';
import type { PresentedKeys } from '../../controls/access-keys/presented-keys.ts';
import { cookieOf, cookieText, endedCookieText } from './cookie.ts';

type Deps = {
  keys: Pick<PresentedKeys, 'get' | 'findById'>;
  /** The secret of the installation, so that every replica accepts the sessions. */
  secret: string;
  isSecure: boolean;
  clock: () => Date;
};

/** A person at a browser, proven by an approver key that was valid a moment ago. */
export type ApproverSession = { readonly key: AccessKeyRow; readonly text: string };

/** Long enough to read a call and to ask about it. A person who needs longer signs in again. */
const sessionMs = 900_000;

/**
 * Sessions of people who decide on pages. A session contains its key id and its end, under our HMAC. It grants no
 * right itself, since the key is read again with each request.
 */
export class ApproverSessions {
  readonly #deps: Deps;
  readonly #macKey: Buffer;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#macKey = createHmac('sha256', deps.secret).update('countersign approver session').digest();
  }

  /** Returns the cookie of a new session. Throws CREDENTIALS_INVALID unless the secret is a live approver key. */
  async open(secret: string): Promise<string> {
    const key = await this.#deps.keys.get(secret);
    if (key.kind !== 'approver')
      throw new AppError('CREDENTIALS_INVALID', 'This key is not an approver key. Approver keys begin with apk_');
    const endsAtMs = this.#deps.clock().getTime() + sessionMs;
    const signed = `${key.id}.${endsAtMs}.${randomBytes(16).toString('base64url')}`;
    const text = `${signed}.${this.#mac('session', signed)}`;
    return cookieText(text, { ageSeconds: sessionMs / 1000, isSecure: this.#deps.isSecure });
  }

  /**
   * The session of the browser that sent this cookie. `null` when there is none, or when the session or key has ended.
   */
  async find(cookieHeader: string | undefined): Promise<ApproverSession | null> {
    const text = cookieOf(cookieHeader);
    const id = text === null ? null : this.#keyOf(text);
    if (text === null || id === null) return null;
    const key = await this.#deps.keys.findById(id);
    return key?.kind === 'approver' ? { key, text } : null;
  }

  get endedCookie(): string {
    return endedCookieText(this.#deps.isSecure);
  }

  /** The token in a form. It proves that the request comes from this form of this session. */
  csrfToken({ text }: ApproverSession, form: FormOf): string {
    return this.#mac('form', `${text}\n${formName(form)}`);
  }

  /** Throws PERMISSION_DENIED for a form that another page or session created. */
  requireForm(session: ApproverSession, form: FormOf, token: string): void {
    if (secretsEqual(token, this.csrfToken(session, form))) return;
    throw new AppError('PERMISSION_DENIED', 'The form belongs to another session. Open the page again');
  }

  #keyOf(text: string): AccessKeyId | null {
    const deps = /^((key_[0-9A-Z]{26})\.(\d{1,15})\.[A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/.exec(text);
    const [, statement = '', id = '', endsAtMs = '', mac = ''] = deps ?? [];
    if (deps === null || !secretsEqual(mac, this.#mac('session', statement))) return null;
    return Number(endsAtMs) <= this.#deps.clock().getTime() ? null : AccessKeyId.parse(id);
  }

  #mac(purpose: 'session' | 'form', text: string): string {
    return createHmac('sha256', this.#macKey).update(`${purpose}\n${text}`).digest('base64url');
  }
}

/** A decision contains the state that was shown, so a form is valid for that state only. */
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
