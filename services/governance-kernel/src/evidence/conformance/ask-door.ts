import { ReasonCode, ReceiptId, Verdict, ApprovalId, DecisionId, type SessionId } from '@countersign/contracts';
import type { CallStep, VectorDoor } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import { vectorPrincipal } from './tenants.ts';

/** A call of a vector, with its caller. */
type DoorCall = {
  url: string;
  /** `null` for a call without credentials. */
  bearer: string | null;
  tenant: string;
  session: SessionId;
  step: Pick<CallStep, 'door' | 'body' | 'headers'>;
  grant: string | null;
  signal: AbortSignal;
};

/** The answer of a route, in the same form for every route. `null` members were not reported. */
export type DoorAnswer = {
  status: number;
  verdict: Verdict | null;
  reason_code: ReasonCode | null;
  receipt_id: ReceiptId | null;
  decision_id: string | null;
  approval_id: string | null;
  error: string | null;
};

type Spoken = { path: string; headers: Record<string, string>; body: unknown };

const mcpRevision = '2026-07-28';
const meta = (name: string) => `io.modelcontextprotocol/${name}`;

/** How to call each route. */
const doors: { readonly [Door in VectorDoor]: (call: DoorCall) => Spoken } = {
  evaluate: ({ step, session, grant }) => ({
    path: '/api/v1/evaluate',
    headers: {},
    body: { action: 'tool.call', session_id: session, ...granted(grant), ...step.body },
  }),
  execute: ({ step, session, grant }) => ({
    path: '/mcp/v1/execute',
    headers: {},
    body: { session_id: session, ...granted(grant), ...step.body },
  }),
  mcp: ({ step, session }) => ({
    path: '/mcp',
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': mcpRevision,
      'mcp-method': 'tools/call',
      'mcp-name': String(step.body['name']),
      'x-gov-session-id': session,
    },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        _meta: {
          [meta('protocolVersion')]: mcpRevision,
          [meta('clientInfo')]: { name: 'conformance', version: '1' },
          [meta('clientCapabilities')]: {},
        },
        ...step.body,
      },
    },
  }),
  chat: ({ step, session }) => ({
    path: '/v1/chat/completions',
    headers: { 'x-gov-session-id': session },
    body: step.body,
  }),
};

const granted = (grant: string | null) => (grant === null ? {} : { approval_grant: grant });

/** Sends one call to a route of the running kernel, like any other caller. Rejects when there is no answer. */
export async function askDoor(call: DoorCall): Promise<DoorAnswer> {
  const { url, step, session, signal } = call;
  const spoken = doors[step.door](call);
  const response = await fetch(`${url}${spoken.path}`, {
    method: 'POST',
    redirect: 'error',
    signal,
    headers: { ...credentialsOf(call), ...spoken.headers, ...withSession(step.headers, session) },
    body: JSON.stringify(spoken.body),
  });
  return answerOf(response, jsonOf(await response.text()));
}

/** With a key, the headers only repeat its own tenant and principal. */
function credentialsOf({ bearer, tenant }: DoorCall): Record<string, string> {
  const named = {
    'content-type': 'application/json',
    'x-gov-tenant-id': tenant,
    'x-gov-principal-id': vectorPrincipal,
  };
  return bearer === null ? named : { ...named, authorization: `Bearer ${bearer}` };
}

/** Replaces `@session` with a session that is new in each run. */
function withSession(headers: Record<string, string>, session: string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replace('@session', session)]));
}

/**
 * The answer of the kernel as an object, from JSON or from an event stream with one message. Missing members are
 * `undefined`.
 */
function jsonOf(text: string): Body {
  const data = /^data: (\{.*)$/m.exec(text)?.[1] ?? text;
  try {
    return Body.parse(JSON.parse(data));
  } catch {
    return {};
  }
}

const Approval = z.looseObject({ approval_id: ApprovalId });
const Decision = z.looseObject({ approval: Approval.optional() });
const Body = z.looseObject({
  approval: Approval.optional(),
  decision: Decision.optional(),
  error: z.looseObject({ code: z.union([z.string(), z.number()]) }).optional(),
  result: z.looseObject({ _meta: z.record(z.string(), z.unknown()).optional() }).optional(),
});
type Body = z.infer<typeof Body>;

/** REST routes return the decision in headers, and MCP in the metadata of its result. */
function answerOf({ status, headers }: Response, body: Body): DoorAnswer {
  const headerOrMeta = (name: string) =>
    headers.get(`x-gov-${name}`) ?? body.result?._meta?.[`countersign/${name.replaceAll('-', '_')}`];
  return {
    status,
    verdict: Verdict.safeParse(headerOrMeta('verdict')).data ?? null,
    reason_code: ReasonCode.safeParse(headerOrMeta('reason-code')).data ?? null,
    receipt_id: ReceiptId.safeParse(headerOrMeta('receipt-id')).data ?? null,
    decision_id: DecisionId.safeParse(headerOrMeta('decision-id')).data ?? null,
    approval_id: (body.approval ?? body.decision?.approval)?.approval_id ?? null,
    error: body.error === undefined ? null : String(body.error.code),
  };
}
