// The MCP server of the test kit, on the official SDK, in a process of its own.
import { startNoteServer } from '@countersign/testkit/mcp-server';
import { forgetOften } from './forget-often.ts';

const notes = await startNoteServer();
forgetOften(notes.requests, notes.calls);
process.once('disconnect', () => process.exit());
process.send?.({ url: notes.url });
