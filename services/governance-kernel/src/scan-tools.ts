/** The scan of tool definitions, for measurements of its quality. */
export { scanTools } from './controls/mcp-scan/scan-tools.ts';
