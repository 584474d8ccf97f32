// The parts of ECharts that the page uses; nothing else is bundled.
import { BarChart, CustomChart, GraphChart, LineChart, ScatterChart } from 'echarts/charts';
import { DataZoomInsideComponent, GridComponent, MarkLineComponent, TooltipComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { LabelLayout } from 'echarts/features';
import { CanvasRenderer } from 'echarts/renderers';

use([BarChart, CustomChart, GraphChart, LineChart, ScatterChart, DataZoomInsideComponent, GridComponent,
     MarkLineComponent, TooltipComponent, LabelLayout, CanvasRenderer]);

export { init };
export type { ECharts } from 'echarts/core';
/** ECharts' own option type includes every kind of chart; the tests look at our options as drawn. */
export type Option = Record<string, unknown>;
