// A real MCP server over stdio. Its tools report facts about its own process and end it. Plain JavaScript: tests start
// it with node.
import { Server } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

const none = { type: 'object', properties: {}, additionalProperties: false };
const tools = [
  {
    name: 'environment',
    description: 'Names and values of the environment.',
    inputSchema: none,
    annotations: { readOnlyHint: true },
  },
  { name: 'pid', description: 'The process id.', inputSchema: none, annotations: { readOnlyHint: true } },
  {
    name: 'crash',
    description: 'Ends the process without an answer.',
    inputSchema: none,
    annotations: { readOnlyHint: true },
  },
];

const server = new Server({ name: 'process', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler('tools/list', () => ({ tools }));
server.setRequestHandler('tools/call', ({ params }) => {
  if (params.name === 'crash') process.exit(1);
  const value = params.name === 'pid' ? process.pid : process.env;
  return { content: [{ type: 'text', text: JSON.stringify(value) }] };
});
await server.connect(new StdioServerTransport());
