import type { ErrorEnvelope } from '@countersign/contracts';

/** From -32000 on codes are the server's own; -32020 and below belong to the protocol. */
const serverErrorCode = -32_000;
const parseErrorCode = -32_700;
const parseErrors = new Set<string>([
  'MALFORMED_JSON',
  'DUPLICATE_MEMBER',
  'LONE_SURROGATE',
  'NUMBER_OUT_OF_RANGE',
  'NESTING_TOO_DEEP',
]);

/** The error of a route of MCP, which is JSON-RPC, with our code among the data. */
export function jsonRpcError({ error }: ErrorEnvelope): object {
  const { code, reason_code, request_id, retryable } = error;
  const rpcCode = parseErrors.has(code) ? parseErrorCode : serverErrorCode;
  return {
    jsonrpc: '2.0',
    id: null,
    error: { code: rpcCode, message: error.message, data: { code, reason_code, request_id, retryable } },
  };
}
