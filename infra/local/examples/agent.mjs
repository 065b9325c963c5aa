import OpenAI from 'openai';

const { KERNEL_URL, AGENT_KEY: apiKey } = process.env;
if (!apiKey) process.exit(console.error('First load the keys: set -a; . .countersign/local.env; set +a') ?? 1);
const openai = new OpenAI({ baseURL: `${KERNEL_URL}/v1`, apiKey });
const answer = await openai.chat.completions.create({
  model: 'default',
  messages: [{ role: 'user', content: 'call:close_ticket {"id": 7}' }],
  tools: [{ type: 'function', function: { name: 'close_ticket', parameters: { type: 'object' } } }],
});
const { tool_calls: calls = [], content } = answer.choices[0].message;
for (const { function: call } of calls) console.log(`Run ${call.name} with ${call.arguments}`);
if (calls.length === 0) console.log(content);
