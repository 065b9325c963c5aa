import { ChatCompletionRequest } from '@countersign/contracts/governance-kernel';
import { KernelError } from './kernel-error.ts';

/**
 * The request of a step. A workspace may have more tools than a request can contain. Its run then ends with
 * INVALID_REQUEST.
 */
export function modelRequestOf(text: string): ChatCompletionRequest {
  const request = ChatCompletionRequest.safeParse(JSON.parse(text));
  if (request.success) return request.data;
  const [issue] = request.error.issues;
  throw new KernelError('unreachable', 'INVALID_REQUEST', `${issue?.path.join('.')}: ${issue?.message}`);
}
