from .answer import (
    answer_notes as answer_notes,
    answer_sentence as answer_sentence,
    answer_table as answer_table,
    answer_text as answer_text,
    precision_notes as precision_notes,
    reading_notes as reading_notes,
)
from .comparison import (
    ReportInput as ReportInput,
    progress_bar as progress_bar,
)
from .differences import (
    by_metric as by_metric,
    extreme_tables as extreme_tables,
    method_notes as method_notes,
    no_orders_note as no_orders_note,
    order_sentences as order_sentences,
    order_tables as order_tables,
    pair_notes as pair_notes,
    pair_sentence as pair_sentence,
    power_sentence as power_sentence,
)
from .figures import (
    COLOURS as COLOURS,
    FORMS as FORMS,
    GROUND as GROUND,
    INK as INK,
    dark_colour as dark_colour,
    fill_colours as fill_colours,
    legend_below as legend_below,
    line_colours as line_colours,
    line_styles as line_styles,
    new_figure as new_figure,
    plain_axes as plain_axes,
    render_figure as render_figure,
    time_axis as time_axis,
    with_dark_colours as with_dark_colours,
    write_figure as write_figure,
)
from .graphs import (
    draw_space as draw_space,
    draw_topology as draw_topology,
)
from .groups import (
    GroupAnswer as GroupAnswer,
    JobTimes as JobTimes,
    group_section as group_section,
    grouping as grouping,
    short_names as short_names,
)
from .line_charts import (
    ChartData as ChartData,
    chart_data as chart_data,
    chart_figure as chart_figure,
    charts_along as charts_along,
    plotly_figure as plotly_figure,
)
from .messages import (
    MessageLines as MessageLines,
    MessageRow as MessageRow,
    MessageTable as MessageTable,
)
from .numbers import (
    best_rows as best_rows,
    by_axis_csv as by_axis_csv,
    decimals_for as decimals_for,
    format_estimate as format_estimate,
    level_text as level_text,
    orders_csv as orders_csv,
    pairs_csv as pairs_csv,
    shown_figures as shown_figures,
    table_csv as table_csv,
)
from .page import (
    WrittenReport as WrittenReport,
    choice_law_text as choice_law_text,
    render_html as render_html,
    report_pictures as report_pictures,
    scenario_rows as scenario_rows,
    script_json as script_json,
    write_report as write_report,
)
from .races import (
    orders_as_svg as orders_as_svg,
    orders_as_text as orders_as_text,
    race_lines as race_lines,
    races_conclusion as races_conclusion,
)
from .state_spaces import (
    edge_label as edge_label,
    write_state_space as write_state_space,
)
from .svg import (
    painted as painted,
)
from .tables import (
    duration_text as duration_text,
    policy_table as policy_table,
    report_view as report_view,
    text_table as text_table,
)
from .verdicts import (
    path_table as path_table,
    result_parts as result_parts,
)
