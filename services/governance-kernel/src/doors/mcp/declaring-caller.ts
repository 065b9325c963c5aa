import type { Transport } from '@modelcontextprotocol/client';
import { CLIENT_CAPABILITIES_META_KEY, LOG_LEVEL_META_KEY } from '@modelcontextprotocol/server';
import { isObject } from '../../call/governed-call.ts';
import { sending } from './sending.ts';

/**
 * The transport that adds the caller's capabilities. In protocol version 2026-07-28, each request declares the caller's
 * elicitation modes and log level. One connection serves many callers, so the client itself declares no capabilities.
 */
export function declaringCaller<T extends Transport>(transport: T): T {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const caller = sending.getStore();
    if (caller === undefined || !('method' in message)) return send(message, options);
    const meta = message.params?.['_meta'];
    if (!isObject(meta) || !(CLIENT_CAPABILITIES_META_KEY in meta)) return send(message, options);
    const declared = {
      ...meta,
      ...(caller.elicitation === null ? {} : { [CLIENT_CAPABILITIES_META_KEY]: { elicitation: caller.elicitation } }),
      ...(caller.logs === null ? {} : { [LOG_LEVEL_META_KEY]: caller.logs.level }),
    };
    return send({ ...message, params: { ...message.params, _meta: declared } }, options);
  };
  return transport;
}
