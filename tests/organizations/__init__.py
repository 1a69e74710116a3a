"""Tests of the organizations app."""
