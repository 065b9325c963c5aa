import type { ErrorEnvelope } from '@countersign/contracts';

/** Codes from -32000 down to -32019 belong to the server. Lower codes belong to the protocol. */
const serverErrorCode = -32_000;
const parseErrorCode = -32_700;
const parseErrors = new Set<string>([
  'MALFORMED_JSON',
  'DUPLICATE_MEMBER',
  'LONE_SURROGATE',
  'NUMBER_OUT_OF_RANGE',
  'NESTING_TOO_DEEP',
]);

/** The error of an MCP route in JSON-RPC form, with our code in the data. */
export function jsonRpcError({ error }: ErrorEnvelope): object {
  const { code, reason_code, request_id, retryable } = error;
  const rpcCode = parseErrors.has(code) ? parseErrorCode : serverErrorCode;
  return {
    jsonrpc: '2.0',
    id: null,
    error: { code: rpcCode, message: error.message, data: { code, reason_code, request_id, retryable } },
  };
}
