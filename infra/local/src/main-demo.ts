import { playDemo } from './demo/play.ts';
import { jsonReport, readableReport } from './demo/report.ts';

const write = (text: string): void => void process.stdout.write(text);

process.exitCode = await playDemo(process.argv.includes('--json') ? jsonReport(write) : readableReport(write));
