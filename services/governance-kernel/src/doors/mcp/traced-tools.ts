import type { SpanFields, Tracer } from '@countersign/service-kit';
import type { Upstream } from '../../decision/dispatch.ts';
import { parseToolAddress } from '../../registry/tool-definition.ts';
import type { ToolAnswer } from './tool-upstream.ts';
import type { CallOptions } from './permitted-sender.ts';

type ToolUpstream = Upstream<CallOptions, ToolAnswer>;

/** The upstream with a span for each sent call. Spans contain names, and no arguments or results. */
export function tracedTools(tracer: Tracer | null, upstream: ToolUpstream): ToolUpstream {
  if (tracer === null) return upstream;
  return (permit, options) =>
    tracer.run(`execute_tool ${permit.tool}`, { kind: 'client', fields: fieldsOf(permit.tool) }, async (span) => {
      const answer = await upstream(permit, { ...options, traceparent: span.traceparent });
      span.set({ 'countersign.outcome': answer.outcome });
      if (answer.outcome !== 'completed') span.end(answer.outcome);
      return answer;
    });
}

function fieldsOf(tool: string | null): SpanFields {
  const serverId = parseToolAddress(tool ?? '')?.serverId;
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': tool ?? 'none',
    'mcp.method.name': 'tools/call',
    ...(serverId === undefined ? {} : { 'countersign.mcp.server_id': serverId }),
  };
}
