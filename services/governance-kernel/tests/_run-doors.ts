import { runAgentUi, runAgUi, type AgentUiEvent } from '@countersign/contracts/governance-kernel';
import type { ModelScript } from '@countersign/testkit/scripted-model';
import type { Attempt, Door, Site, Report } from './_doors.ts';
import { adminKey } from './_kernel.ts';

/** Properties and functions that these doors share with the others. */
type Shared = {
  common: Omit<Door, 'route' | 'name' | 'action' | 'call' | 'dispatches'>;
  headersOf: (session: string, grant?: string) => Record<string, string>;
  proposing: (call: { name: string; arguments: string }, meanwhile: () => Promise<void>) => ModelScript;
};

/** The doors of AG-UI runs: the model call, the answer's tool calls, and resumed tool calls, at both paths. */
export function runDoors(shared: Shared): Door[] {
  return [runAgentUi, runAgUi].flatMap((route) => doorsOf(route, shared));
}

function doorsOf(route: typeof runAgentUi, { common, headersOf, proposing }: Shared): Door[] {
  const proposed = { ...common, route, action: 'tool.call', registered: true, proposed: true } as const;
  const dispatches = ({ notes }: Site) => notes.calls.length;
  const run = async ({ test }: Site, { session, grant, bearer = adminKey }: Attempt, more: object) => {
    const response = await fetch(`${test.kernel.url}${route.path}`, {
      method: 'POST',
      headers: {
        ...headersOf(session, grant),
        ...{ authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      },
      body: JSON.stringify({ threadId: session, runId: 'run', forwardedProps: { model: 'scripted' }, ...more }),
    });
    return { response, text: await response.text() };
  };
  return [
    {
      ...common,
      route,
      name: `${route.operation}, the model call`,
      action: 'model.call',
      dispatched: true,
      takesGrant: true,
      costs: true,
      call: async (site, attempt) => {
        await attempt.meanwhile();
        site.model.follow(() => ({ text: 'Done.' }));
        const { response, text } = await run(site, attempt, { messages: userSays(JSON.stringify(attempt.args)) });
        const receiptId = response.headers.get('x-gov-receipt-id') ?? 'none';
        const { session } = attempt;
        if (response.ok) return { verdict: 'ALLOW', code: 'ALLOWED', receiptId, session, released: true };
        const { error } = JSON.parse(text) as Refusal;
        const verdict = { POLICY_DENIED: 'DENY', APPROVAL_NEEDED: 'ESCALATE' }[error.code] ?? error.code;
        const approvalId = error.details?.approval?.approval_id;
        return { verdict, code: error.reason_code, receiptId, session, approvalId, released: false };
      },
      dispatches: ({ model }) => model.requests.length,
    },
    {
      ...proposed,
      name: `${route.operation}, a tool call of the answer`,
      call: async (site, attempt) => {
        site.model.follow(proposing(callOf(attempt), attempt.meanwhile));
        return toldBy(attempt, await run(site, attempt, { messages: userSays('Write a note.') }));
      },
      dispatches,
    },
    {
      ...proposed,
      resumes: true,
      name: `${route.operation}, a resumed tool call`,
      call: async (site, attempt) => {
        await attempt.meanwhile();
        const { name: tool, arguments: text } = callOf(attempt);
        const withheld = [{ approval_id, tool, tool_call_id: 'call-1', arguments: text }];
        const reported = { id: 'm1', role: 'assistant', content: 'It waits.', metadata: { countersign: { withheld } } };
        const resume = [{ interruptId: approval_id, status: 'resolved' }];
        return toldBy(attempt, await run(site, attempt, { messages: [reported], resume }));
      },
      dispatches,
    },
  ];
}

type Refusal = {
  error: { code: string; reason_code: string; details?: { approval?: { approval_id: Report['approvalId'] } } };
};

/**
 * An approval that does not exist. The kernel decides a resumed call with the session's approvals and ignores this id.
 */
const approval_id = 'apr_01ARZ3NDEKTSV4RRFFQ69G5FAV';

const userSays = (content: string) => [{ id: 'm0', role: 'user', content }];

function callOf({ args, tool = 'notes__write_note', argumentsText = JSON.stringify(args) }: Attempt) {
  return { name: tool, arguments: argumentsText };
}

function toldBy({ session }: Attempt, { text }: { text: string }): Report {
  const events = text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => JSON.parse(event.slice('data: '.length)) as AgentUiEvent);
  const started = events.find((event) => event.type === 'TOOL_CALL_START');
  const withheld = events.find((event) => event.type === 'CUSTOM')?.value;
  const receiptId = withheld?.receipt_id ?? String(started?.metadata?.countersign['receipt_id']);
  const { verdict = 'ALLOW', reason_code: code = 'ALLOWED' } = withheld ?? {};
  return { verdict, code, receiptId, session, released: started !== undefined };
}
