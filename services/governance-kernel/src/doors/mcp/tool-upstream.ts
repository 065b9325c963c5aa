import type { Outcome } from '@countersign/contracts/governance-kernel';
import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  type CallToolResult,
} from '@modelcontextprotocol/client';
import type { Upstream } from '../../decision/dispatch.ts';
import { parseToolAddress } from '../../registry/tool-definition.ts';
import { NotSent } from '../../decision/not-sent.ts';
import { inexactCode } from './exact-answers.ts';
import { Excess, excessCode } from './excess.ts';
import { boundedProgress } from './progress.ts';
import { knownMembers } from './result-members.ts';
import { RefusedQuestion, type ToolResult } from './send-operation.ts';
import type { ServerDirectory } from './server-directory.ts';
import type { CallOptions } from './permitted-sender.ts';

export type ToolAnswer = { outcome: Outcome; result: ToolResult };

type ToolUpstreamDeps = {
  servers: Pick<ServerDirectory, 'find'>;
  outputBytesMax: number;
};

/** Sends a permitted tool call to its server. Never rejects because of the server, whose errors are outcomes. */
export function createToolUpstream({ servers, outputBytesMax }: ToolUpstreamDeps): Upstream<CallOptions, ToolAnswer> {
  return async (permit, { onProgress, ...request }) => {
    const server = servers.find(permit.tenant, parseToolAddress(permit.tool ?? '')?.serverId ?? '')?.server ?? null;
    try {
      if (server === null) throw new NotSent('No server has this tool');
      const options = { ...request, onProgress: onProgress && boundedProgress(onProgress) };
      return answerOf(knownMembers(await server.call(permit, options)), outputBytesMax);
    } catch (error) {
      return faultOf(error);
    }
  };
}

function answerOf(result: ToolResult, outputBytesMax: number): ToolAnswer {
  if (Buffer.byteLength(JSON.stringify(result)) > outputBytesMax) {
    const text = `The tool ran, but its answer has more than ${outputBytesMax} bytes and was withheld`;
    return { outcome: 'completed', result: failure(text) };
  }
  return { outcome: result.isError === true ? 'failed' : 'completed', result };
}

/**
 * A call that was not sent did not run. A JSON-RPC error is the server's own answer, unless it replaces an answer above
 * the limits. After any other error (deadline, lost connection) it is unknown whether the tool ran.
 */
function faultOf(error: unknown): ToolAnswer {
  if (error instanceof NotSent)
    return { outcome: 'failed', result: failure(`The tool was not executed. ${error.message}`) };
  if (error instanceof ProtocolError && error.code === inexactCode)
    return { outcome: 'completed', result: failure(`The tool ran, but its answer was withheld: ${error.message}`) };
  if (error instanceof MissingRequiredClientCapabilityError) {
    const needs = error.requiredCapabilities;
    const text = `The server requires capabilities that Countersign or the client does not offer: ${Object.keys(needs).join(', ')}`;
    return { outcome: 'failed', result: { ...failure(text), needs } };
  }
  if (error instanceof ProtocolError && !isExcess(error))
    return { outcome: 'failed', result: failure(`The tool was refused by its server (${error.code})`) };
  return { outcome: 'uncertain', result: failure(`${uncertainty(error)}; the tool may have run`) };
}

function isExcess(error: unknown): boolean {
  return error instanceof Excess || (error instanceof ProtocolError && error.code === excessCode);
}

function uncertainty(error: unknown): string {
  if (isExcess(error)) return 'The answer of the server is too large to be read at once and was withheld';
  if (error instanceof RefusedQuestion) return error.message;
  switch (error instanceof SdkError ? error.code : undefined) {
    case SdkErrorCode.InvalidResult:
      return 'The answer of the server is not a valid result and was withheld';
    default:
      return 'The server did not answer in time or went away';
  }
}

function failure(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
