import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '@countersign/contracts';
import { callMcp, describeMcp, executeMcp, listMcpCapabilities } from '@countersign/contracts/governance-kernel';
import { openEventStream, takenOver, type GuardRequest, type Log } from '@countersign/service-kit';
import type { Caller } from '../../call/governed-call.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { ClientStream } from '../../doors/mcp/client-stream.ts';
import { mcpProtocolVersions, mcpServerInfo } from '../../doors/mcp/server-info.ts';
import { sessionOf } from '../../doors/mcp-session/requested-session.ts';

type DescribeMcpDeps = { cycle: { settings: { pages: { publicUrl: string } } } } & Pick<
  Context,
  'mcp' | 'mcpSessions' | 'callableTools' | 'clock' | 'verifyCaller'
>;

/** An assertion of the gateway is valid for a short time only, so its stream ends, and the client opens another one. */
const assertedStreamMsMax = 300_000;

/** Describes the MCP server, or opens the event stream of a session. */
export const describeMcpRoute = (kernel: DescribeMcpDeps) =>
  handleTenant(describeMcp)(async ({ caller, req, res, signal, requestId, log }) => {
    if (wantsStream(req.headers.accept)) {
      await streamTo(kernel, { caller, req, res, signal, log, guarded: guardedOf({ req, requestId, log }) });
      return takenOver;
    }
    const { publicUrl } = kernel.cycle.settings.pages;
    return {
      server_name: mcpServerInfo.name,
      version: mcpServerInfo.version,
      mcp_endpoint: absolute(callMcp.path, publicUrl),
      capabilities_url: absolute(listMcpCapabilities.path, publicUrl),
      execute_url: absolute(executeMcp.path, publicUrl),
      supported_protocol_versions: [...mcpProtocolVersions],
    };
  });

type Streamed = { caller: Caller; req: IncomingMessage; res: ServerResponse; signal: AbortSignal; log: Log };

async function streamTo(
  { mcp, mcpSessions: sessions, callableTools: callable, clock, verifyCaller }: DescribeMcpDeps,
  { caller, req, res, signal, log, guarded }: Streamed & { guarded: GuardRequest },
): Promise<void> {
  const session = sessionOf(sessions.tokens, caller, req.headers);
  if (session === null)
    throw new AppError(
      'METHOD_NOT_ALLOWED',
      'Only a session of 2025-11-25 has an event stream. Send `initialize` first',
      {
        headers: { allow: 'POST' },
      },
    );
  const stopped = new AbortController();
  const place = sessions.streams.enter(session, () => stopped.abort());
  try {
    const now = () => clock().getTime();
    const verify = verifierOf(caller, { now, again: () => verifyCaller(guarded) });
    const stream = openEventStream({ res, signal: AbortSignal.any([signal, stopped.signal]) });
    const { isNewest, pauseMs } = place;
    const client = new ClientStream(
      { mcp, callable, sessions, now },
      { session, caller, stream, log, isNewest, pauseMs, verify },
    );
    const lastId = req.headers['last-event-id'];
    await client.run(typeof lastId === 'string' ? sessions.streamStates.open(session, lastId) : null);
  } finally {
    place.leave();
  }
}

/** Verifies the credential of an open stream again. */
function verifierOf(caller: Caller, { now, again }: { now(): number; again(): Promise<void> }): () => Promise<void> {
  if (caller.assertion === undefined) return again;
  const endsAtMs = now() + assertedStreamMsMax;
  return () => (now() < endsAtMs ? Promise.resolve() : Promise.reject(new Error('The assertion is too old')));
}

function guardedOf({ req, requestId, log }: { req: IncomingMessage; requestId: string; log: Log }): GuardRequest {
  const { searchParams } = new URL(req.url ?? '/', 'http://kernel');
  return { req, requestId, log, route: describeMcp, params: {}, query: Object.fromEntries(searchParams) };
}

function wantsStream(accept: string | undefined): boolean {
  return accept !== undefined && accept.includes('text/event-stream') && !accept.includes('application/json');
}

function absolute(path: string, publicUrl: string): string {
  return new URL(path, publicUrl).href;
}
