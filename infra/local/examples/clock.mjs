import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

const server = new McpServer({ name: 'clock', version: '1.0.0' });
server.registerTool('now', { description: 'The time here.', annotations: { readOnlyHint: true } }, () => ({
  content: [{ type: 'text', text: new Date().toISOString() }],
}));
await server.connect(new StdioServerTransport());
