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
  /** The workspace that requests name. `null` when the credential determines it, or when none is set. */
  readonly workspaceId: string | null;
  readonly url: string;
  /** True when the credential is `COUNTERSIGN_TOKEN` and not a login. */
  readonly hasToken: boolean;
  /** The headers with the credential and the workspace. */
  headers(): Promise<Record<string, string>>;
  /** A typed client of the gateway. */
  ask<const Routes extends Record<string, AnyRoute>>(routes: Routes): Client<Routes>;
};

/** Returns a connection to the gateway. Throws CommandFailed without a credential. */
export async function connect(config: Config): Promise<Connection> {
  const { url, workspaceId, bearer } = await credentialOf(config);
  const headers = async () => ({
    authorization: `Bearer ${await bearer()}`,
    ...(workspaceId === null ? {} : { 'x-workspace-id': workspaceId }),
  });
  const hasToken = config.token !== null;
  return { url, workspaceId, hasToken, headers, ask: (routes) => createClient(routes, { baseUrl: url, headers }) };
}

/** The workspace for routes with a workspace in their path. Throws CommandFailed when no workspace is set. */
export function workspaceOf({ workspaceId }: Connection): string {
  if (workspaceId !== null) return workspaceId;
  throw new CommandFailed('No workspace is set. Set COUNTERSIGN_WORKSPACE, or sign in with countersign login', 2);
}

/** Awaits a call. A refusal of the server is reported with its code. Throws CommandFailed. */
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

/** Text of a refusal: the server's message, and the next step for the user. */
function refusalText({ message, code, details }: AppError, { hasToken }: Pick<Connection, 'hasToken'>): string {
  const { message: statement, nextStep } = refusalWords(message, code);
  const whole = nextStep === null ? statement : `${statement}. ${nextStep}`;
  if (code === 'CREDENTIALS_INVALID') return hasToken ? `COUNTERSIGN_TOKEN is refused: ${whole}` : whole;
  const needed = PersonRole.safeParse(details?.['needed']);
  return hasToken || !needed.success ? whole : `${statement}: countersign login --role ${needed.data}`;
}
