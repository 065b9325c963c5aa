import {
  createClient,
  isAppError,
  PersonRole,
  type AnyRoute,
  type AppError,
  type Client,
} from '@countersign/contracts';
import { CommandFailed } from '../command-failed.ts';
import type { Config } from '../config.ts';
import { credentialOf } from './credential.ts';
import { refusalWords } from './refusal-words.ts';

export type Connection = {
  /** The workspace that is asked about; null: the credential knows, or none is named. */
  readonly workspaceId: string | null;
  readonly url: string;
  /** Whether `COUNTERSIGN_TOKEN` is the credential, and not a login. */
  readonly hasToken: boolean;
  /** The headers of the caller. */
  headers(): Promise<Record<string, string>>;
  /** The gateway, typed. */
  ask<const Routes extends Record<string, AnyRoute>>(routes: Routes): Client<Routes>;
};

/** How the gateway is asked. Throws CommandFailed without a sign-in. */
export async function connect(config: Config): Promise<Connection> {
  const { url, workspaceId, bearer } = await credentialOf(config);
  const headers = async () => ({
    authorization: `Bearer ${await bearer()}`,
    ...(workspaceId === null ? {} : { 'x-workspace-id': workspaceId }),
  });
  const hasToken = config.token !== null;
  return { url, workspaceId, hasToken, headers, ask: (routes) => createClient(routes, { baseUrl: url, headers }) };
}

/** The workspace, for routes whose path names it. Throws CommandFailed when no workspace is set. */
export function workspaceOf({ workspaceId }: Connection): string {
  if (workspaceId !== null) return workspaceId;
  throw new CommandFailed('Name the workspace by COUNTERSIGN_WORKSPACE, or sign in: countersign login', 2);
}

/** Runs a call; what the server refuses is told with its code. Throws CommandFailed. */
export async function answered<Reply>(
  { hasToken }: Pick<Connection, 'hasToken'>,
  ask: () => Promise<{ body: Reply }>,
): Promise<Reply> {
  try {
    return (await ask()).body;
  } catch (cause) {
    if (!isAppError(cause)) throw cause;
    throw new CommandFailed(refusalText(cause, { hasToken }), cause.code === 'UPSTREAM_FAILED' ? 2 : 1, { cause });
  }
}

/** The event, the server's message, and the next step of the person at this terminal. */
function refusalText({ message, code, details }: AppError, { hasToken }: Pick<Connection, 'hasToken'>): string {
  const { said, nextStep } = refusalWords(message, code);
  const whole = nextStep === null ? said : `${said}. ${nextStep}`;
  if (code === 'CREDENTIALS_INVALID') return hasToken ? `COUNTERSIGN_TOKEN is refused: ${whole}` : whole;
  const needed = PersonRole.safeParse(details?.['needed']);
  return hasToken || !needed.success ? whole : `${said}: countersign login --role ${needed.data}`;
}
