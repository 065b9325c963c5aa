// The MCP server of the test kit, on the official SDK, in a process of its own.
import { startNoteServer } from '@countersign/testkit/mcp-server';

const notes = await startNoteServer();
// It remembers requests for tests to look at; here they would only fill the memory.
setInterval(() => [notes.requests, notes.calls].forEach((list) => list.splice(0)), 100).unref();
process.once('disconnect', () => process.exit());
process.send({ ready: true, url: notes.url });
