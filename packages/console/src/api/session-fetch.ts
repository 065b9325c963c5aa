import { beginLogin, finishLogin, getSession, refreshSession } from '@countersign/contracts/control-plane';
import { ErrorEnvelope } from '@countersign/contracts';

/** The routes that need no session. */
const withoutSession: ReadonlySet<string> = new Set([beginLogin.path, finishLogin.path, refreshSession.path]);

/**
 * The browser's own fetch, as a page of a session needs it. A request that changes something carries the token of the
 * page. An answer that the session is over renews it once, for all running requests, and asks again. If it is over for
 * good, that answer is returned.
 */
type SessionFetch = {
  send: typeof fetch;
  /** Called at each sign-in and sign-out. */
  forget(): void;
  /**
   * Sets the person whom the page shows. Nothing is changed in the name of another person, whose session this browser
   * has by now.
   */
  isFor(userId: string): void;
};

/** `onOther`: the session is another person's than the page's. */
export function createSessionFetch(fetchNow: typeof fetch, onOther: () => void): SessionFetch {
  let userId: string | null = null;
  let csrfToken: string | null = null;
  let renewing: Promise<boolean> | null = null;
  let renewals = 0;

  const tokenOfPage = async (): Promise<string | null> => {
    if (csrfToken !== null) return csrfToken;
    const answer = await renewed(getSession.path, {});
    const session = getSession.reply.safeParse(answer.ok ? await answer.json() : null);
    if (userId !== null && session.data !== undefined && session.data.user_id !== userId) {
      onOther();
      throw new TypeError('Another person has signed in in this browser');
    }
    csrfToken = session.data?.csrf_token ?? null;
    return csrfToken;
  };

  const attempt = async (path: string, init: RequestInit): Promise<Response> => {
    if (isRead(init) || withoutSession.has(path)) return fetchNow(path, init);
    const headers = new Headers(init.headers);
    const token = await tokenOfPage();
    if (token !== null) headers.set('x-csrf-token', token);
    return fetchNow(path, { ...init, headers });
  };

  const renewed = async (path: string, init: RequestInit): Promise<Response> => {
    const since = renewals;
    const answer = await attempt(path, init);
    if (withoutSession.has(path) || !(await saysSessionIsOver(answer))) return answer;
    // A request that was sent before the last renewal, and is answered after it, needs no other one.
    if (renewals > since) return attempt(path, init);
    renewing ??= renew(fetchNow).finally(() => {
      renewing = null;
      renewals += 1;
    });
    return (await renewing) ? attempt(path, init) : answer;
  };

  const send: typeof fetch = async (input, init = {}) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input, location.origin);
    const answer = await renewed(pathname + search, init);
    // Another tab has signed another person in: the next request reads that session's token.
    if (answer.status === 403) csrfToken = null;
    return answer;
  };
  return {
    send,
    forget: () => {
      csrfToken = null;
      userId = null;
    },
    isFor: (shown) => (userId = shown),
  };
}

async function renew(fetchNow: typeof fetch): Promise<boolean> {
  const { method, path } = refreshSession;
  const answer = await fetchNow(path, { method });
  if (answer.ok || answer.status === 401) return answer.ok;
  throw new TypeError(`The session could not be renewed: ${answer.status}`);
}

function isRead({ method = 'GET' }: RequestInit): boolean {
  return method === 'GET';
}

const sessionIsOver: ReadonlySet<string> = new Set(['CREDENTIALS_REQUIRED', 'CREDENTIALS_INVALID']);

/** Other refusals of 401 concern a code or the age of the proof of presence. */
async function saysSessionIsOver(answer: Response): Promise<boolean> {
  if (answer.status !== 401) return false;
  const envelope = ErrorEnvelope.safeParse(
    await answer
      .clone()
      .json()
      .catch(() => null),
  );
  return envelope.success && sessionIsOver.has(envelope.data.error.code);
}
