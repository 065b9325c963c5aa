import './without-eval.ts';
import { dataId, type ReportData } from '../report-data.ts';
import { showReport } from './report-page.ts';

const root = document.getElementById('report');
const data = document.getElementById(dataId)?.textContent;
// `reportHtml` writes the data into this document.
if (root !== null && data) showReport(root, JSON.parse(data) as ReportData);
