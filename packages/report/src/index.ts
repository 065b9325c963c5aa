export { packBytesMax, reportHtml } from './report-html.ts';
export type { ReportData } from './report-data.ts';
