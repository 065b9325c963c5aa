import { beginLogin, finishLogin, getSession, refreshSession } from '@countersign/contracts/control-plane';
import { ErrorEnvelope } from '@countersign/contracts';

const withoutSession: ReadonlySet<string> = new Set([beginLogin.path, finishLogin.path, refreshSession.path]);

/**
 * A `fetch` for pages of a session. Each request that changes something carries the CSRF token of the page, except
 * those of a sign-in. When an answer reports that the session is over, the session is renewed once for all running
 * requests. Each of these requests is then sent again. If the renewal is refused, the answer to the first attempt is
 * returned. Rejects when the renewal fails for another reason.
 */
type SessionFetch = {
  send: typeof fetch;
  /** Called at each sign-in and sign-out. */
  forget(): void;
  /** Sets the person whom the page shows. If the session belongs to another person by now, changes are not sent. */
  isFor(userId: string): void;
};

/** `onOther` is called when the session belongs to another person than the one shown on the page. */
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
      throw new TypeError('Another person has signed in with this browser');
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
    // The session was renewed after this request was sent, so the request is repeated without another renewal.
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
    // Another tab may have signed in another person, so the next request reads the token again.
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

/** Other answers with 401 are about a code or the age of the proof of presence. */
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
