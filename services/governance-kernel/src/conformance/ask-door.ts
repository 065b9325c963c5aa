import { ReasonCode, ReceiptId, Verdict, ApprovalId, DecisionId, type SessionId } from '@countersign/contracts';
import type { CallStep, VectorDoor } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import { vectorPrincipal } from './tenants.ts';

/** The caller of a call, and the call. */
type DoorCall = {
  url: string;
  /** Null: without credentials. */
  bearer: string | null;
  tenant: string;
  session: SessionId;
  step: Pick<CallStep, 'door' | 'body' | 'headers'>;
  grant: string | null;
  signal: AbortSignal;
};

/** The answer of a door, in the same words for every door. Null: it did not say. */
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

/** How each door wants to be asked. */
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

/** Sends one call to a door of the running kernel, as any caller does. Rejects when there is no answer. */
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

/** For a key the headers only repeat its own claims. */
function credentialsOf({ bearer, tenant }: DoorCall): Record<string, string> {
  const named = {
    'content-type': 'application/json',
    'x-gov-tenant-id': tenant,
    'x-gov-principal-id': vectorPrincipal,
  };
  return bearer === null ? named : { ...named, authorization: `Bearer ${bearer}` };
}

/** A key that is new in each run is written as `@session`. */
function withSession(headers: Record<string, string>, session: string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replace('@session', session)]));
}

/** An answer of the kernel; what is not there is undefined. An event stream has one message. */
function jsonOf(text: string): Said {
  const data = /^data: (\{.*)$/m.exec(text)?.[1] ?? text;
  try {
    return Said.parse(JSON.parse(data));
  } catch {
    return {};
  }
}

const Approval = z.looseObject({ approval_id: ApprovalId });
const Decision = z.looseObject({ approval: Approval.optional() });
const Said = z.looseObject({
  approval: Approval.optional(),
  decision: Decision.optional(),
  error: z.looseObject({ code: z.union([z.string(), z.number()]) }).optional(),
  result: z.looseObject({ _meta: z.record(z.string(), z.unknown()).optional() }).optional(),
});
type Said = z.infer<typeof Said>;

/** REST doors tell their decision in headers, MCP in the metadata of its result. */
function answerOf({ status, headers }: Response, said: Said): DoorAnswer {
  const told = (name: string) =>
    headers.get(`x-gov-${name}`) ?? said.result?._meta?.[`countersign/${name.replaceAll('-', '_')}`];
  return {
    status,
    verdict: Verdict.safeParse(told('verdict')).data ?? null,
    reason_code: ReasonCode.safeParse(told('reason-code')).data ?? null,
    receipt_id: ReceiptId.safeParse(told('receipt-id')).data ?? null,
    decision_id: DecisionId.safeParse(told('decision-id')).data ?? null,
    approval_id: (said.approval ?? said.decision?.approval)?.approval_id ?? null,
    error: said.error === undefined ? null : String(said.error.code),
  };
}
