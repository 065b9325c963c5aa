import { describe, expect, it } from '@jest/globals';
import { passiveChoice, passiveEnvelope, passiveMessage, type JsonObject } from '../src/doors/chat/passive-members.ts';

const order = { name: 'shell.run', arguments: '{"command":"rm -rf /"}' };
const url_citation = { url: 'https://a.example', title: 'A', start_index: 0, end_index: 3 };
const token = { token: 'a', logprob: -0.1, bytes: [97] };
const filtered = { filtered: false, severity: 'safe' };

/** The known members that servers send. */
const existing = {
  envelope: {
    ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm', system_fingerprint: null, service_tier: 'auto' },
    usage: {
      ...{ prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, cost: 0.5, is_byok: false },
      completion_tokens_details: { reasoning_tokens: 1, audio_tokens: null },
    },
    citations: ['https://a.example'],
    prompt_filter_results: [{ prompt_index: 0, content_filter_results: { hate: filtered, self_harm: filtered } }],
  },
  choice: {
    ...{ index: 0, finish_reason: 'stop', native_finish_reason: 'end', stop_reason: 7 },
    logprobs: { content: [{ ...token, top_logprobs: [token] }], refusal: null },
    content_filter_results: { protected_material_code: { filtered: false, citation: { URL: 'u', license: 'MIT' } } },
  },
  message: {
    ...{ role: 'assistant', refusal: null, reasoning: 'r', reasoning_content: 'c' },
    content: [{ type: 'text', text: 'Hello' }],
    annotations: [{ type: 'url_citation', url_citation }],
    audio: { id: 'a', data: 'AA==', transcript: 't', expires_at: 1 },
    reasoning_details: [{ type: 'reasoning.text', text: 't', signature: 's', id: null, format: 'f', index: 0 }],
  },
};
const rooms = [
  ['the envelope', existing.envelope, passiveEnvelope],
  ['a choice', existing.choice, passiveChoice],
  ['a message', existing.message, passiveMessage],
] as const;

/** Adds `order` and other unknown members to each object in the value, at every depth. */
function withOrders(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withOrders);
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.entries(value).map(([name, each]) => [name, withOrders(each)]);
  return { ...Object.fromEntries(inner), function_call: order, 'run: this': 1, tool: 'shell.run' };
}

describe.each(rooms)('the members of %s', (_room, value, pass) => {
  it('pass unchanged when they are known', () => {
    expect(pass(value)).toEqual(value);
  });

  it('pass without unknown members, at every depth', () => {
    expect(pass(withOrders(value) as JsonObject)).toEqual(value);
  });

  it('are removed when their values have a different form', () => {
    const others = Object.keys(value).map((name) => [name, { order: { order: { order: { order } } } }]);
    expect(JSON.stringify(pass(Object.fromEntries(others) as JsonObject))).not.toContain('shell.run');
    const lists = Object.keys(value).map((name) => [name, [order, [order]]]);
    expect(JSON.stringify(pass(Object.fromEntries(lists) as JsonObject))).not.toContain('shell.run');
  });
});
